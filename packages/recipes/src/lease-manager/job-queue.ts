/** The jobs that are left. A job can come back, so `next` waits while any is in progress. */
export class JobQueue<Job> {
  readonly #pending: Job[]
  #inProgress = 0
  #isStopped = false
  #waiting: (() => void)[] = []

  constructor(jobs: readonly Job[]) {
    this.#pending = [...jobs]
  }

  /** `undefined`: nothing is left, or the queue was stopped. */
  async next(): Promise<Job | undefined> {
    while (!this.#isStopped) {
      const job = this.#pending.shift()
      if (job !== undefined) {
        this.#inProgress += 1
        return job
      }
      if (this.#inProgress === 0) return undefined
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return undefined
  }

  /** A job that `next` has returned is finished, or goes to the end of the queue. */
  settle(job: Job, isFinished: boolean): void {
    this.#inProgress -= 1
    if (!isFinished) this.#pending.push(job)
    this.#wake()
  }

  stop(): void {
    this.#isStopped = true
    this.#wake()
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}
