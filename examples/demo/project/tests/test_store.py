from shortener.store import Store


def test_an_address_is_found_under_its_code() -> None:
    store = Store()
    store.put("a", "https://example.org")
    assert store.get("a") == "https://example.org"
