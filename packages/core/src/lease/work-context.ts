import { AsyncLocalStorage } from 'node:async_hooks'

/** Work in progress, and the work that it was started from. */
interface Frame {
  /** The lease that the work belongs to; `undefined` once its run has ended. */
  subject: object | undefined
  readonly outer: Frame | undefined
}

/**
 * Knows which work the present code runs in, across `await`. Node 20 and 22 slow down every promise of the process while
 * an `AsyncLocalStorage` is in use, so it is switched off while no work is in progress.
 */
class WorkContext {
  readonly #frames = new AsyncLocalStorage<Frame>()
  #inProgress = 0

  /** Whether the caller runs in work of this subject, at any depth. */
  includes(subject: object): boolean {
    for (let frame = this.#frames.getStore(); frame !== undefined; frame = frame.outer) {
      if (frame.subject === subject) return true
    }
    return false
  }

  /** Does work of the subject. Work that goes on after the promise has settled no longer counts as the subject's. */
  async run<T>(subject: object, work: () => Promise<T>): Promise<T> {
    const frame: Frame = { subject, outer: this.#frames.getStore() }
    this.#inProgress += 1
    try {
      return await this.#frames.run(frame, work)
    } finally {
      frame.subject = undefined
      this.#inProgress -= 1
      if (this.#inProgress === 0) this.#frames.disable()
    }
  }
}

/** One for the process: work of one lease may run inside the work of another. */
export const workContext = new WorkContext()
