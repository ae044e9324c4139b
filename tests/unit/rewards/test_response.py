"""The submission in a model's response."""

from __future__ import annotations

import random

import pytest

from benchguard.rewards.response import TEXT_MAX, Code, code_in


def test_last_closed_block_in_a_known_language_is_the_submission() -> None:
    text = "First:\n```python\none\n```\nBetter:\n```cuda\n__global__ two\n\n```\n```bash\nmake\n```\n"
    assert code_in(text) == Code("__global__ two\n\n", "cuda")
    assert code_in(text, "python") == Code("one\n", "python")


@pytest.mark.parametrize("word", ["C++", "cpp", "cu", "CUDA title=x.cu"])
def test_language_is_the_word_behind_the_fence(word: str) -> None:
    assert code_in(f"```{word}\nx\n```") == Code("x\n", "cuda")


def test_block_without_language_counts_if_the_language_is_given() -> None:
    assert code_in("```\nx\n```", "ptx") == Code("x\n", "ptx")
    assert isinstance(code_in("```\nx\n```"), str)


def test_longer_fence_holds_shorter_fences() -> None:
    assert code_in("````python\n'''\n```cuda\n```\n'''\n````") == Code("'''\n```cuda\n```\n'''\n", "python")
    assert code_in("~~~ptx\nx\n~~~") == Code("x\n", "ptx")


def test_characters_of_the_code_stay() -> None:
    """Only line ends separate lines: a string of the code may hold other separators."""
    assert code_in("```python\r\na = '\x0c\u2028\x85'\r\n```") == Code("a = '\x0c\u2028\x85'\n", "python")


@pytest.mark.parametrize("text", ["", "no code", "```cuda\ncut off", "```cuda\n\n```", "```rust\nx\n```"])
def test_response_without_code_gives_a_reason(text: str) -> None:
    assert code_in(text) == "the response has no closed ``` block of cuda, ptx or python code"


def test_block_in_a_language_that_is_not_graded_is_skipped() -> None:
    text = "```ptx\nx\n```\n```hip\ny\n```\n"
    assert code_in(text) == Code("x\n", "ptx")
    assert code_in(text, languages=frozenset({"hip"})) == Code("y\n", "hip")


def test_long_response_is_refused() -> None:
    assert "characters" in str(code_in("x" * (TEXT_MAX + 1)))


def test_random_responses_give_code_or_a_reason() -> None:
    """A fuzzer with a fixed seed; the source is always a part of the response, line by line."""
    words = ["```", "~~~", "````", "cuda", "python", "\n", "\r", "\u2028", " ", "x = 1", "`", "\x00"]
    for seed in range(2000):
        draw = random.Random(seed)
        text = "".join(draw.choices(words, k=draw.randrange(40)))
        found = code_in(text, draw.choice([None, "python"]))
        if isinstance(found, Code):
            assert set(found.source.splitlines()) <= set(text.splitlines())
            assert found.source.strip()
        else:
            assert found.startswith("the response has no")
