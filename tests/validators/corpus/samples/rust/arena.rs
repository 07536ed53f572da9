use std::borrow::Cow;
use std::io::{self, BufRead, Write};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

static COUNT: AtomicUsize = AtomicUsize::new(0);

macro_rules! fail {
    ($($part:tt)*) => {
        return Err(io::Error::new(io::ErrorKind::Other, format!($($part)*)))
    };
}

pub trait Visitor {
    type Output;

    fn visit(&mut self, node: &Node<'_>, depth: usize) -> Self::Output;

    fn done(self) -> Option<Self::Output>
    where
        Self: Sized,
    {
        None
    }
}

#[derive(Debug, PartialEq)]
pub struct Node<'a> {
    pub name: Cow<'a, str>,
    pub children: Vec<Rc<Node<'a>>>,
    weight: f64,
}

pub(crate) struct Printer<W: Write> {
    out: W,
    pub indent: &'static str,
}

impl<W: Write> Visitor for Printer<W> {
    type Output = io::Result<()>;

    fn visit(&mut self, node: &Node<'_>, depth: usize) -> Self::Output {
        writeln!(self.out, "{}{} ({:.1})", self.indent.repeat(depth), node.name, node.weight)?;
        for child in &node.children {
            self.visit(child, depth + 1)?;
        }
        Ok(())
    }
}

impl<'a> Node<'a> {
    pub fn new(name: impl Into<Cow<'a, str>>) -> Self {
        COUNT.fetch_add(1, SeqCst);
        Self { name: name.into(), children: Vec::new(), weight: 1.0 }
    }

    #[must_use]
    pub fn with(mut self, child: Rc<Node<'a>>) -> Self {
        self.weight += child.weight * 0.5;
        self.children.push(child);
        self
    }

    pub fn find<'n>(&'n self, name: &str) -> Option<&'n Node<'a>> {
        if self.name == name {
            return Some(self);
        }
        self.children.iter().find_map(|child| child.find(name))
    }

    pub fn depth(&self) -> usize {
        1 + self.children.iter().map(|child| child.depth()).max().unwrap_or_default()
    }

    async fn total(&self) -> f64 {
        let mut sum = 0.0;
        let mut pending: Vec<&Node> = vec![self];
        'all: loop {
            match pending.pop() {
                Some(node) if node.weight < 0.0 => break 'all,
                Some(node) => {
                    sum += node.weight;
                    pending.extend(node.children.iter().map(Rc::as_ref));
                }
                None => break,
            }
        }
        sum
    }
}

/// Reads lines such as `a > b > c`.
pub fn read<'a, R: BufRead>(input: R) -> io::Result<Vec<Node<'a>>> {
    let mut found = Vec::new();
    for (number, line) in input.lines().enumerate() {
        let line = line?;
        let text = line.trim();
        if text.is_empty() || text.starts_with("//") {
            continue;
        }
        let mut parts = text.split('>').map(str::trim).rev();
        let mut node = match parts.next() {
            Some("") | None => fail!("line {}: nothing behind '>'", number + 1),
            Some(name) => Node::new(name.to_owned()),
        };
        for part in parts {
            let outer = Node::new(part.to_string()).with(Rc::new(node));
            node = outer;
        }
        found.push(node);
    }
    Ok(found)
}

unsafe fn raw(data: *const u8, len: usize) -> &'static [u8] {
    unsafe { std::slice::from_raw_parts(data, len) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds() -> Result<(), Box<dyn std::error::Error>> {
        let nodes = read("a > b > c\n\n// x\nd".as_bytes())?;
        assert_eq!(nodes.len(), 2, "two lines");
        assert!(nodes[0].find("c").is_some() && nodes[1].find("c").is_none());
        let text: &[u8] = br"raw\n";
        assert_ne!(text[3], b'\n');
        Ok(())
    }
}
