/** Notifies of the end of a release. */
export class Release {
  #isDone = false
  #waiting: (() => void)[] = []

  readonly done = (): void => {
    this.#isDone = true
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  whenDone(): Promise<void> {
    return this.#isDone ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve))
  }
}
