//! A grid with shortest ways through it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::fmt::{self, Display};
use std::ops::{Add, Index, IndexMut};

const NEIGHBOURS: [(i32, i32); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];

/// A place in the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

impl Add<(i32, i32)> for Point {
    type Output = Self;

    fn add(self, (x, y): (i32, i32)) -> Self {
        Point { x: self.x + x, y: self.y + y }
    }
}

#[derive(Clone, Debug, Default)]
pub enum Cell {
    #[default]
    Free,
    Wall,
    Slow(u32),
    Door { key: char, open: bool },
}

impl Cell {
    fn cost(&self) -> Option<u32> {
        match self {
            Cell::Free | Cell::Door { open: true, .. } => Some(1),
            Cell::Slow(n) if *n > 0 => Some(*n),
            Cell::Slow(_) => Some(1),
            _ => None,
        }
    }
}

pub struct Grid<T> {
    cells: Vec<T>,
    width: usize,
}

#[derive(Debug)]
pub enum ParseError {
    Empty,
    Unknown(char, Point),
    Ragged { line: usize, found: usize },
}

impl Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ParseError::Empty => write!(f, "an empty grid"),
            ParseError::Unknown(c, Point { x, y }) => write!(f, "unknown {c:?} at {x},{y}"),
            ParseError::Ragged { line, found } => {
                write!(f, "line {} has {} cells", line + 1, found)
            }
        }
    }
}

impl std::str::FromStr for Grid<Cell> {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let width = text.lines().next().ok_or(ParseError::Empty)?.chars().count();
        let mut cells = Vec::with_capacity(width * width);
        for (y, line) in text.lines().enumerate() {
            let before = cells.len();
            for (x, c) in line.chars().enumerate() {
                cells.push(match c {
                    '.' => Cell::Free,
                    '#' => Cell::Wall,
                    '1'..='9' => Cell::Slow(c.to_digit(10).unwrap_or(1)),
                    'a'..='z' => Cell::Door { key: c, open: false },
                    other => return Err(ParseError::Unknown(other, Point { x: x as i32, y: y as i32 })),
                });
            }
            if cells.len() - before != width {
                return Err(ParseError::Ragged { line: y, found: cells.len() - before });
            }
        }
        Ok(Grid { cells, width })
    }
}

impl<T> Index<Point> for Grid<T> {
    type Output = T;

    fn index(&self, at: Point) -> &T {
        &self.cells[at.y as usize * self.width + at.x as usize]
    }
}

impl<T> IndexMut<Point> for Grid<T> {
    fn index_mut(&mut self, at: Point) -> &mut T {
        &mut self.cells[at.y as usize * self.width + at.x as usize]
    }
}

impl<T> Grid<T> {
    pub fn height(&self) -> usize {
        if self.width == 0 { 0 } else { self.cells.len() / self.width }
    }

    pub fn get(&self, at: Point) -> Option<&T> {
        let inside = (0..self.width as i32).contains(&at.x) && (0..self.height() as i32).contains(&at.y);
        inside.then(|| &self[at])
    }

    pub fn map<U, F>(&self, f: F) -> Grid<U>
    where
        F: Fn(&T) -> U,
    {
        Grid { cells: self.cells.iter().map(f).collect(), width: self.width }
    }
}

pub fn shortest(grid: &Grid<Cell>, from: Point, to: Point) -> Option<(u32, Vec<Point>)> {
    let mut open = BinaryHeap::from([(Reverse(0_u32), from)]);
    let mut came: HashMap<Point, Point> = HashMap::new();
    let mut closed = HashSet::new();
    let mut costs = HashMap::from([(from, 0)]);
    while let Some((Reverse(cost), at)) = open.pop() {
        if at == to {
            let mut way = vec![at];
            let mut last = at;
            while let Some(&before) = came.get(&last) {
                way.push(before);
                last = before;
            }
            way.reverse();
            return Some((cost, way));
        }
        if !closed.insert(at) {
            continue;
        }
        for step in NEIGHBOURS {
            let next = at + step;
            let Some(price) = grid.get(next).and_then(Cell::cost) else {
                continue;
            };
            let total = cost + price;
            if costs.get(&next).map_or(true, |&known| total < known) {
                costs.insert(next, total);
                came.insert(next, at);
                open.push((Reverse(total), next));
            }
        }
    }
    None
}
