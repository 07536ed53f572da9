using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Clock = System.Func<System.DateTime>;

namespace Jobs.Scheduling
{
    /// <summary>When a job runs again.</summary>
    public enum Repeat : byte
    {
        Never = 0,
        Hourly,
        Daily = 24,
    }

    public interface IJob<in TContext> where TContext : class
    {
        string Name { get; }
        event EventHandler<JobArgs> Finished;
        Task<bool> RunAsync(TContext context, CancellationToken token = default(CancellationToken));
    }

    public sealed class JobArgs : EventArgs
    {
        public readonly string Name;
        public Exception Error { get; private set; }

        public JobArgs(string name, Exception error = null)
        {
            Name = name ?? throw new ArgumentNullException(nameof(name));
            Error = error;
        }
    }

    public struct Slot : IComparable<Slot>
    {
        public DateTime Due;
        public int Order;

        public int CompareTo(Slot other)
        {
            int byTime = Due.CompareTo(other.Due);
            return byTime != 0 ? byTime : Order - other.Order;
        }

        public static bool operator <(Slot a, Slot b) => a.CompareTo(b) < 0;
        public static bool operator >(Slot a, Slot b) => a.CompareTo(b) > 0;
    }

    [Serializable]
    public abstract partial class Scheduler<TContext> : IDisposable where TContext : class, new()
    {
        private const int Limit = 0x40;
        private static readonly TimeSpan[] Waits = { TimeSpan.FromSeconds(1), TimeSpan.FromMinutes(1) };
        private readonly SortedDictionary<Slot, IJob<TContext>> _jobs = new SortedDictionary<Slot, IJob<TContext>>();
        private readonly object _gate = new object();
        private readonly Clock _clock;
        private volatile bool _disposed;
        protected delegate void Notice(string text, params object[] parts);

        #region Construction

        protected Scheduler(Clock clock)
        {
            _clock = clock ?? (() => DateTime.UtcNow);
        }

        ~Scheduler()
        {
            Dispose(false);
        }

        #endregion

        public int Count
        {
            get { lock (_gate) { return _jobs.Count; } }
        }

        public IJob<TContext> this[string name]
        {
            get => _jobs.Values.FirstOrDefault(job => job.Name == name);
        }

        public void Add(IJob<TContext> job, Repeat repeat = Repeat.Never)
        {
            if (_disposed)
            {
                throw new ObjectDisposedException(GetType().Name);
            }
            lock (_gate)
            {
                if (_jobs.Count >= Limit)
                    throw new InvalidOperationException($"more than {Limit} jobs, {job.Name} is left out");
                var slot = new Slot { Due = _clock() + Wait(repeat), Order = _jobs.Count };
                _jobs.Add(slot, job);
            }
#if TRACE_JOBS
            Console.WriteLine("added {0}", job.Name);
#else
            _ = job;
#endif
        }

        private static TimeSpan Wait(Repeat repeat)
        {
            switch (repeat)
            {
                case Repeat.Never:
                    return TimeSpan.Zero;
                case Repeat.Hourly:
                    return TimeSpan.FromHours(1);
                default:
                    return Waits[Waits.Length - 1];
            }
        }

        public async Task<IList<string>> RunDueAsync(CancellationToken token)
        {
            var ran = new List<string>();
            while (!token.IsCancellationRequested)
            {
                KeyValuePair<Slot, IJob<TContext>> next;
                lock (_gate)
                {
                    next = _jobs.FirstOrDefault(pair => pair.Key.Due <= _clock());
                    if (next.Value == null) break;
                    _jobs.Remove(next.Key);
                }
                try
                {
                    using (var source = CancellationTokenSource.CreateLinkedTokenSource(token))
                    {
                        source.CancelAfter(Waits[1]);
                        bool ok = await next.Value.RunAsync(new TContext(), source.Token).ConfigureAwait(false);
                        ran.Add(ok ? next.Value.Name : "!" + next.Value.Name);
                    }
                }
                catch (OperationCanceledException) when (token.IsCancellationRequested)
                {
                    break;
                }
                catch (Exception error)
                {
                    OnFailed(next.Value.Name, ref error);
                }
                finally
                {
                    Interlocked.Increment(ref _runs);
                }
            }
            return ran;
        }

        private int _runs;
        protected virtual void OnFailed(string name, ref Exception error) { }
        protected abstract void Dispose(bool disposing);

        public void Dispose()
        {
            Dispose(true);
            GC.SuppressFinalize(this);
        }
    }
}
