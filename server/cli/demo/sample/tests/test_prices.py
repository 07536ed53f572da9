from prices import discount


def test_a_stranger_without_a_coupon_saves_nothing():
    assert discount(50.0, False, None) == 0.0
