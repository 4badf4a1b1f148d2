from __future__ import annotations

import pytest

from tests.support.faces import FACES


@pytest.fixture(params=FACES, ids=repr)
def face(request):
    """Each way to run svir."""
    return request.param
