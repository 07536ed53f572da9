import React, { useEffect, useMemo, useState, type ReactNode } from 'react';

interface Card {
  id: number;
  title: string;
  done?: boolean;
  labels: readonly string[];
}

type Filter = 'all' | 'open' | 'done';

interface BoardProps<T extends Card> {
  cards: T[];
  children?: ReactNode;
  onToggle: (card: T) => void;
}

const FILTERS: Record<Filter, (card: Card) => boolean> = {
  all: () => true,
  open: (card) => !card.done,
  done: (card) => Boolean(card.done),
};

function Label({ text, color = 'gray' }: { text: string; color?: string }) {
  return (
    <span className="label" style={{ background: color, padding: 2 }}>
      {text}
    </span>
  );
}

export function Board<T extends Card>({ cards, children, onToggle }: BoardProps<T>): JSX.Element {
  const [filter, setFilter] = useState<Filter>('all');
  const [query, setQuery] = useState('');

  const shown = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/);
    return cards
      .filter(FILTERS[filter])
      .filter((card) => words.every((word) => card.title.toLowerCase().includes(word)));
  }, [cards, filter, query]);

  useEffect(() => {
    const before = document.title;
    document.title = `${shown.length} of ${cards.length}`;
    return () => {
      document.title = before;
    };
  }, [shown.length, cards.length]);

  if (cards.length === 0) {
    return <p>Nothing to do.</p>;
  }

  return (
    <section aria-label="board">
      <header>
        <input value={query} placeholder="Search" onChange={(event) => setQuery(event.target.value)} />
        {(Object.keys(FILTERS) as Filter[]).map((name) => (
          <button key={name} disabled={name === filter} onClick={() => setFilter(name)}>
            {name}
          </button>
        ))}
      </header>
      <ul>
        {shown.map((card) => (
          <li key={card.id} className={card.done ? 'done' : undefined}>
            <label>
              <input type="checkbox" checked={!!card.done} onChange={() => onToggle(card)} />
              {card.title}
            </label>
            {card.labels.length > 0 && card.labels.map((text) => <Label key={text} text={text} />)}
          </li>
        ))}
      </ul>
      <>{children}</>
    </section>
  );
}

export default React.memo(Board) as typeof Board;
