"""Recent results are kept up to a weight."""

from contextlib import nullcontext

from drethtr.base.recent import RecentResults


def made_anew(results, *keys):
    """Those of some keys whose results are not kept; each weighs as much as its key says."""
    made = []
    for key in keys:
        results.get(key, lambda key=key: made.append(key) or key)
    return made


def test_the_last_results_are_kept_as_long_as_they_are_not_too_heavy():
    results = RecentResults(10, lambda result: result)
    assert made_anew(results, 4, 5, 4) == [4, 5]
    assert made_anew(results, 3, 4, 5) == [3, 5]  # 5 was the one not asked for
    assert made_anew(results, 40, 40) == [40]  # the last one stays, whatever it weighs
    assert made_anew(results, 2, 40, 2) == [2, 40, 2]


def test_by_default_a_number_is_kept():
    results = RecentResults(2)
    assert made_anew(results, 1, 2, 1, 3, 1, 2) == [1, 2, 3, 2]


def test_what_two_threads_have_made_counts_once():
    results = RecentResults(2)

    def make():
        results.making.clear()  # as by a thread that failed while this one waited for it
        return results.get("same", lambda: 0)

    results.get("same", make)
    assert made_anew(results, 1, "same", 1) == [1]


def test_nobody_makes_a_result_again_that_is_just_finished():
    results = RecentResults(2)
    made = []

    class Lock:
        """Another request arrives as soon as the result is not being made any more."""

        def __enter__(self):
            pass

        def __exit__(self, *error):
            if made and not results.making:
                results.lock = nullcontext()
                results.get("same", lambda: made.append("again"))

    results.lock = Lock()
    results.get("same", lambda: made.append("once"))
    assert made == ["once"]
