"""Property definitions by themselves."""

import pytest

from ugs.errors import LimitExceeded, UgsError
from ugs.ontology.errors import InvalidArgument
from ugs.ontology.properties import PropertyDefinition, PropertyKind, check_definitions

S, I, N, B = PropertyKind  # noqa: E741


@pytest.mark.parametrize(
    "wrong",
    [
        PropertyDefinition("", S),
        PropertyDefinition("a\x00", S),
        PropertyDefinition("x" * 257, S),
        PropertyDefinition("x", S, enum=(1,)),
        PropertyDefinition("x", I, enum=(True,)),
        PropertyDefinition("x", B, enum=(1,)),
        PropertyDefinition("x", S, default=1),
        PropertyDefinition("x", S, enum=("a",), default="b"),
        PropertyDefinition("x", S, pattern="^a$", default="b"),
        PropertyDefinition("x", I, pattern="a"),
        PropertyDefinition("x", S, pattern="(a"),
        PropertyDefinition("x", N, default=float("inf")),
        PropertyDefinition("x", I, default=2**63),
        PropertyDefinition("x", S, default="\ud800"),
        PropertyDefinition("x", S, description="y" * 2_001),
        PropertyDefinition("x", S, enum=tuple(str(n) for n in range(501))),
    ],
)
def test_definitions_that_make_no_sense(wrong: PropertyDefinition) -> None:
    with pytest.raises((InvalidArgument, LimitExceeded)):
        check_definitions([wrong])


def test_names_are_defined_once_and_not_without_end() -> None:
    x = PropertyDefinition("x", S)
    with pytest.raises(InvalidArgument, match="defined already"):
        check_definitions([x, x])
    with pytest.raises(InvalidArgument, match="defined already"):
        check_definitions([x], [x])
    with pytest.raises(UgsError):
        check_definitions([PropertyDefinition(f"p{n}", S) for n in range(201)])


def test_what_values_a_definition_allows() -> None:
    assert PropertyDefinition("x", N).find_objection(1) is None
    assert PropertyDefinition("x", N).find_objection(1.5) is None
    assert PropertyDefinition("x", I).find_objection(1.5) is not None
    assert PropertyDefinition("x", I).find_objection(True) is not None
    assert PropertyDefinition("x", B).find_objection(1) is not None
    assert PropertyDefinition("x", S, enum=("a",)).find_objection("b") == "must be one of a"
    code = PropertyDefinition("x", S, pattern="^[A-Z]+$")
    assert code.find_objection("AB") is None
    assert code.find_objection("ab") == "does not look like ^[A-Z]+$"
    assert "at most" in (code.find_objection("A" * 5_001) or "")
