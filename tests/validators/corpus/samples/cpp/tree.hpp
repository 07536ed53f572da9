#ifndef TREE_HPP
#define TREE_HPP

#include <cstddef>

#define TREE_CHECK(condition) \
  do {                        \
    if (!(condition)) fail(__LINE__); \
  } while (0)

namespace tree {

[[noreturn]] void fail(int line);

template <class K>
struct Less {
  bool operator()(const K& a, const K& b) const { return a < b; }
};

template <class K, class V, class Compare = Less<K>>
class Map final {
 public:
  struct Node {
    K key;
    V value;
    int height = 1;
    Node* left = nullptr;
    Node* right = nullptr;
  };

  class Iterator {
   public:
    Iterator(Node* const* path, int depth) : depth_(depth) {
      for (int i = 0; i < depth; ++i) path_[i] = path[i];
    }
    Node& operator*() const { return *path_[depth_ - 1]; }
    Node* operator->() const { return path_[depth_ - 1]; }
    bool operator!=(const Iterator& other) const { return depth_ != other.depth_; }
    Iterator& operator++();

   private:
    Node* path_[64];
    int depth_;
  };

  Map() = default;
  virtual ~Map() { clear(root_); }

  V* find(const K& key) const {
    Node* at = root_;
    while (at != nullptr) {
      if (less_(key, at->key)) {
        at = at->left;
      } else if (less_(at->key, key)) {
        at = at->right;
      } else {
        return &at->value;
      }
    }
    return nullptr;
  }

  bool insert(const K& key, V value) {
    const std::size_t before = count_;
    root_ = insert(root_, key, value);
    TREE_CHECK(count_ >= before);
    return count_ != before;
  }

  std::size_t size() const noexcept { return count_; }
  friend bool same(const Map& a, const Map& b) { return a.root_ == b.root_; }

 private:
  static int height(const Node* node) { return node ? node->height : 0; }

  static void update(Node* node) {
    int l = height(node->left), r = height(node->right);
    node->height = 1 + (l > r ? l : r);
  }

  static Node* rotate(Node* node, bool to_left) {
    Node* up = to_left ? node->right : node->left;
    if (to_left) {
      node->right = up->left;
      up->left = node;
    } else {
      node->left = up->right;
      up->right = node;
    }
    update(node);
    update(up);
    return up;
  }

  Node* insert(Node* node, const K& key, V& value) {
    if (!node) {
      ++count_;
      return new Node{key, value};
    }
    if (less_(key, node->key)) {
      node->left = insert(node->left, key, value);
    } else if (less_(node->key, key)) {
      node->right = insert(node->right, key, value);
    }
    update(node);
    const int lean = height(node->left) - height(node->right);
    if (lean > 1 || lean < -1) {
      return rotate(node, lean < 0);
    }
    return node;
  }

  void clear(Node* node) {
    if (node == nullptr) return;
    clear(node->left);
    clear(node->right);
    delete node;
  }

  Node* root_ = nullptr;
  std::size_t count_ = 0;
  Compare less_{};
};

union Word {
  unsigned int whole;
  unsigned char bytes[4];
};

extern "C" int tree_version(void);

}  // namespace tree

#endif  // TREE_HPP
