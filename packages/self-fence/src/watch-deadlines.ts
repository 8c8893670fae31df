/** The machine, as the thread sees it. */
export interface WatchedMachine {
  /** Nanoseconds of the monotonic clock, whose origin all threads share. */
  readonly hrtime: () => bigint
  /** Seconds of the boot clock, which goes on during a suspend. */
  readonly uptime: () => number
  readonly kill: (signal: 'SIGTERM' | 'SIGKILL') => void
}

/** The memory that the thread shares with the leases, and how it is to be read. Times in nanoseconds. */
export interface WatchedMemory {
  /** One word: 0 while the thread is to run. */
  readonly stop: SharedArrayBuffer
  /** Two 64-bit words for each grant: when to ask the process to end, and when to kill it; 0 for never. */
  readonly deadlines: SharedArrayBuffer
  /** How far the boot clock was ahead of the monotonic one at the start; `undefined` if the latter counts suspends. */
  readonly bootOffset: number | undefined
  /** The step in which the boot clock is read. */
  readonly bootStep: number
  /** The longest time between two looks, in milliseconds. */
  readonly longestSleep: number
}

/**
 * Ends the process when a deadline has passed. This is the program of a thread: it is started from its text, so that it
 * works in a bundle too, and it may use its arguments only. It must not call functions of its own: some compilers wrap
 * them.
 */
export function watchDeadlines(memory: WatchedMemory, machine: WatchedMachine): void {
  const stop = new Int32Array(memory.stop)
  const deadlines = new BigInt64Array(memory.deadlines)
  let suspended = 0
  while (Atomics.load(stop, 0) === 0) {
    const booted = machine.uptime() * 1e9
    const monotonic = machine.hrtime()
    if (memory.bootOffset !== undefined) {
      const ahead = booted - Number(monotonic) - memory.bootOffset
      // Counts a whole step more than was seen, as the clock of the leases does.
      if (ahead > memory.bootStep) suspended = Math.max(suspended, ahead + memory.bootStep)
    }
    const now = monotonic + BigInt(Math.floor(suspended))
    let next = now + BigInt(memory.longestSleep * 1_000_000)
    for (let place = 0; place < deadlines.length; place += 1) {
      const deadline = Atomics.load(deadlines, place)
      if (deadline === 0n) continue
      if (deadline > now) {
        if (deadline < next) next = deadline
      } else if (place % 2 === 1) machine.kill('SIGKILL')
      // Asks once, unless the grant was renewed meanwhile.
      else if (Atomics.compareExchange(deadlines, place, deadline, 0n) === deadline) machine.kill('SIGTERM')
    }
    Atomics.wait(stop, 0, 0, Number(next - now) / 1e6)
  }
}
