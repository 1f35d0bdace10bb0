import numpy as np
import pytest

from drethtr.base.errors import DataError
from drethtr.recognition.confidence.logistic import Logistic, fit_logistic, log_odds


def drawn(weights, bias=0.5, cases=20_000):
    rng = np.random.default_rng(0)
    features = rng.normal(0, [1, 10, 0.2], (cases, 3))
    truth = rng.random(cases) < Logistic(bias, weights)(features)
    return features, truth


def test_finds_the_weights_that_made_the_cases():
    fitted = fit_logistic(*drawn((1.0, -0.2, 5.0)), ridge=1e-6)
    assert fitted.bias == pytest.approx(0.5, abs=0.1)
    assert np.allclose(fitted.weights, (1.0, -0.2, 5.0), rtol=0.1)


def test_the_bias_is_not_regularized():
    """However strong the ridge is, the mean probability is the share of right cases."""
    features, truth = drawn((1.0, -0.2, 5.0), bias=2.0)
    fitted = fit_logistic(features, truth, ridge=1e3)
    assert np.abs(fitted.weights).max() < 0.01 and fitted(features).mean() == pytest.approx(truth.mean(), abs=1e-4)


def test_fitted_probabilities_are_as_often_right_as_they_say():
    features, truth = drawn((1.0, -0.2, 5.0))
    chances = fit_logistic(features, truth)(features)
    for low in np.arange(0, 1, 0.1):
        group = (chances >= low) & (chances < low + 0.1)
        if group.sum() > 500:
            assert truth[group].mean() == pytest.approx(chances[group].mean(), abs=0.04)


def test_a_feature_that_never_changes_weighs_nothing():
    features, truth = drawn((1.0, -0.2, 5.0), cases=500)
    features[:, 1] = 7.0
    assert fit_logistic(features, truth).weights[1] == 0


@pytest.mark.parametrize("truth", [True, False])
def test_nothing_is_learned_where_all_cases_are_alike(truth):
    with pytest.raises(DataError, match="all 5 examples are"):
        fit_logistic(np.zeros((5, 2)), np.full(5, truth))


EXPECTED = Logistic(-1.0, (0.5, 0.1, -2.0))


def test_few_cases_move_what_was_expected_a_little_and_many_as_far_as_they_say():
    features, truth = drawn((1.0, -0.2, 5.0))
    few, many = (fit_logistic(features[:n], truth[:n], prior=EXPECTED) for n in (20, 20_000))
    assert np.allclose(many.weights, (1.0, -0.2, 5.0), rtol=0.15)
    spread = np.array([1, 10, 0.2])
    of_few, of_many = (np.abs(spread * (np.array(one.weights) - EXPECTED.weights)).sum() for one in (few, many))
    assert 0 < of_few < of_many


@pytest.mark.parametrize("truth", [True, False])
def test_cases_that_are_all_alike_move_what_was_expected(truth):
    features = drawn((1.0, -0.2, 5.0))[0][:30]
    fitted = fit_logistic(features, np.full(30, truth), prior=EXPECTED)(features)
    assert (fitted.mean() > EXPECTED(features).mean()) == truth and 0 < fitted.min() < fitted.max() < 1


def test_a_feature_that_was_not_known_begins_without_weight():
    features, truth = drawn((1.0, -0.2, 5.0), cases=500)
    features[:, 2] = 7.0
    assert fit_logistic(features, truth, prior=Logistic(0.0, (0.5, 0.1))).weights[2] == pytest.approx(0, abs=1e-6)


def test_separable_cases_have_finite_weights():
    features = np.array([[0.0], [1.0]] * 10)
    fitted = fit_logistic(features, features[:, 0] > 0.5)
    assert np.isfinite([fitted.bias, *fitted.weights]).all() and fitted(features)[1] > 0.99


def test_no_score_is_too_large_for_a_probability():
    """numpy warned of an overflow, and warnings are errors here."""
    assert Logistic(0.0, (1.0,))(np.array([[-1e300], [0.0], [1e300]])).tolist() == pytest.approx([0, 0.5, 1])


def test_log_odds_are_finite_and_invert_the_curve():
    assert np.allclose(Logistic(0.0, (1.0,))(log_odds(np.array([0.2, 0.7]))[:, None]), [0.2, 0.7])
    assert np.isfinite(log_odds(np.array([0.0, 1.0]))).all()
