import type { Clock } from './clock.js'

/** Node turns a longer delay into 1 ms. */
const MAX_DELAY = 2 ** 31 - 1

/** A timer that keeps the process alive while anyone needs it. */
class AliveTimer {
  #needs = 0
  #timer: NodeJS.Timeout | undefined

  need(): void {
    this.#needs += 1
    if (this.#needs > 1) return
    this.#timer ??= setInterval(() => {}, MAX_DELAY)
    this.#timer.ref()
  }

  unneed(): void {
    this.#needs -= 1
    if (this.#needs === 0) this.#timer?.unref()
  }
}

/** One for all, because arming a timer for each call would cost more than many calls. */
const timer = new AliveTimer()

/**
 * Keeps the process alive until the returned function is called. Timers of a `Clock` do not keep it alive, and neither does a
 * held lease, so each pending call of a user needs this: without it, Node ends the process with exit code 0 while a caller
 * waits. Calling the function again has no effect. `clock`: that of the call; a call in virtual time keeps nothing alive.
 */
export function keepAlive(clock: Clock): () => void {
  if (clock.isVirtual === true) return () => {}
  let isOver = false
  timer.need()
  return () => {
    if (isOver) return
    isOver = true
    timer.unneed()
  }
}

/** Keeps the process alive until a promise has settled, unless that is not wanted. Settles as the promise does. */
export async function keptAlive<T>(clock: Clock, pending: Promise<T>, isWanted = true): Promise<T> {
  if (!isWanted) return await pending
  const end = keepAlive(clock)
  try {
    return await pending
  } finally {
    end()
  }
}
