"""Wire APIs first defined by OpenAI, one folder each."""
