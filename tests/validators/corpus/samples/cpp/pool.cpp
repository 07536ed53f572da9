// A pool of objects and a small string view, without the standard library.
namespace pool {

typedef unsigned long size_type;
using byte = unsigned char;

constexpr size_type kBlock = 64;
enum class Grow : int { Never, Double = 2, Fixed };

inline size_type length(const char* text) {
  size_type n = 0;
  while (text[n] != '\0') ++n;
  return n;
}

class View {
 public:
  constexpr View() noexcept = default;
  View(const char* data, size_type size) : data_(data), size_(size) {}
  explicit View(const char* text) : View(text, length(text)) {}

  const char* begin() const { return data_; }
  const char* end() const { return data_ + size_; }
  size_type size() const { return size_; }
  bool empty() const { return size_ == 0; }

  char operator[](size_type index) const { return data_[index]; }

  bool operator==(const View& other) const {
    if (size_ != other.size_) return false;
    for (size_type i = 0; i < size_; ++i) {
      if (data_[i] != other[i]) {
        return false;
      }
    }
    return true;
  }

  View cut(size_type from, size_type count = ~size_type(0)) const {
    size_type start = from < size_ ? from : size_;
    size_type rest = size_ - start;
    return View(data_ + start, count < rest ? count : rest);
  }

 private:
  const char* data_ = nullptr;
  size_type size_ = 0;
};

struct Full {
  size_type wanted;
  const char* what() const { return "the pool is full"; }
};

template <typename T, size_type N = kBlock>
class Pool {
  struct Slot {
    alignas(T) byte room[sizeof(T)];
    Slot* next;
  };

 public:
  using value_type = T;

  explicit Pool(Grow grow = Grow::Never) : grow_(grow) {
    for (size_type i = 0; i < N; ++i) {
      slots_[i].next = i + 1 < N ? &slots_[i + 1] : nullptr;
    }
    free_ = &slots_[0];
  }

  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { free_ = nullptr; }

  Slot* take() {
    if (free_ == nullptr) {
      throw Full{N + 1};
    }
    Slot* slot = free_;
    free_ = slot->next;
    ++used_;
    return slot;
  }

  void give(Slot* slot) {
    slot->next = free_;
    free_ = slot;
    used_ -= 1;
  }

  template <typename F>
  size_type each(F&& visit) const {
    size_type count = 0;
    for (const Slot* slot = free_; slot; slot = slot->next) {
      visit(*slot);
      count++;
    }
    return count;
  }

  static int kind(Grow grow) {
    switch (grow) {
      case Grow::Never:
        return 0;
      case Grow::Double: {
        int twice = static_cast<int>(Grow::Double) * 2;
        return twice;
      }
      default:
        break;
    }
    return -1;
  }

 private:
  Slot slots_[N];
  Slot* free_;
  size_type used_ = 0;
  Grow grow_;
};

template <typename T>
T largest(const T& first) {
  return first;
}

template <typename T, typename... Rest>
T largest(const T& first, const Rest&... rest) {
  const T other = largest(rest...);
  return other < first ? first : other;
}

#ifdef POOL_CHECKED
static_assert(sizeof(View) <= 16, "a view is small");
#else
static int unchecked = 1;
#endif

}  // namespace pool

int main(int argc, char** argv) {
  pool::Pool<int, 8> numbers;
  pool::View name(argc > 1 ? argv[1] : "world");
  int seen = 0;
  auto count = [&seen](const auto&) mutable -> void { seen += 1; };
  try {
    for (int i = 0; i < 4; i++) numbers.give(numbers.take());
    numbers.each(count);
  } catch (const pool::Full& full) {
    return full.wanted > 0 ? 1 : 2;
  } catch (...) {
    return 3;
  }
  do {
    seen >>= 1;
  } while (seen > 0 && !name.empty());
  int total[3] = {1, 2, pool::largest(3, 4, 5)};
  return total[0] == 1 ? seen : 0x10;
}
