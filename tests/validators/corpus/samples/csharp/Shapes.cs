#define CHECKED
#pragma warning disable 0168
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace Drawing
{
    public abstract class Shape
    {
        private static int s_count;

        protected Shape(string name = "shape")
        {
            Name = name;
            s_count++;
        }

        public string Name { get; set; } = "";
        public abstract double Area { get; }

        public virtual void Scale(double by, out double area)
        {
            area = Area * by * by;
        }

        public override string ToString() => $"{Name}: {Area:F2}";
    }

    public class Circle : Shape, IEquatable<Circle>
    {
        public double Radius { get; protected set; }

        public Circle(double radius) : base("circle")
        {
            if (radius < 0.0 || double.IsNaN(radius)) throw new ArgumentOutOfRangeException("radius");
            Radius = radius;
        }

        public override double Area
        {
            get
            {
                return Math.PI * Radius * Radius;
            }
        }

        public bool Equals(Circle other) => other != null && Math.Abs(other.Radius - Radius) < 1e-9;

        public static explicit operator double(Circle circle)
        {
            return circle.Radius;
        }
    }

    internal static class Extensions
    {
        public static IEnumerable<T> Largest<T>(this IEnumerable<T> shapes, int count) where T : Shape
        {
            var sorted = from shape in shapes
                         where shape.Area > 0 && shape.Name.Length > 0
                         orderby shape.Area descending
                         select shape;
            foreach (T shape in sorted)
            {
                if (count-- <= 0)
                {
                    yield break;
                }
                yield return shape;
            }
        }

        public static unsafe int Sum(int* first, int count)
        {
            int sum = 0;
            for (int i = 0; i < count; i++)
                sum += first[i];
            return sum;
        }
    }

    public class Canvas : IEnumerable<Shape>
    {
        private readonly List<Shape> _shapes = new List<Shape>();
        private readonly Dictionary<string, Action<Shape>> _brushes = new Dictionary<string, Action<Shape>>
        {
            { "fill", shape => Console.Write(shape) },
            { "line", delegate (Shape shape) { Console.WriteLine(shape.Name); } },
        };

        public event Action<object, Shape> Added;
        public int? Limit { get; set; }

        public IEnumerator<Shape> GetEnumerator()
        {
            return _shapes.GetEnumerator();
        }

        IEnumerator IEnumerable.GetEnumerator() { return GetEnumerator(); }

        public void Add(Shape shape)
        {
#if CHECKED
            if (shape == null)
            {
                throw new ArgumentNullException(nameof(shape));
            }
#endif
            if (_shapes.Count >= (Limit ?? int.MaxValue)) return;
            _shapes.Add(shape);
            Added?.Invoke(this, shape);
        }

        public string Draw(string brush, params int[] widths)
        {
            var text = new StringBuilder(@"a \ path ""quoted""");
            int index = 0;
            do
            {
                char mark = widths.Length > index ? (char)('a' + widths[index] % 26) : '\n';
                text.Append(mark).Append(' ');
                index += 1;
            } while (index < widths.Length);
            Action<Shape> draw;
            if (!_brushes.TryGetValue(brush, out draw))
            {
                goto done;
            }
            foreach (var shape in _shapes.Where(one => one is Circle).Cast<Circle>())
            {
                checked
                {
                    draw(shape);
                }
            }
        done:
            return text.ToString();
        }

        public static T[,] Grid<T>(int width, int height, Func<int, int, T> make)
        {
            var cells = new T[width, height];
            for (int x = 0, y = 0; x < width; y = (y + 1) % height, x += y == 0 ? 1 : 0)
            {
                cells[x, y] = make(x, y);
            }
            return cells;
        }
    }
}
