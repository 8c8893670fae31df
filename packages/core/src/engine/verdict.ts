const yes = Promise.resolve(true)
const no = Promise.resolve(false)

/**
 * What a caller is told, once: a promise that is made only when somebody has to wait for it, for in memory nobody
 * does.
 */
export class Verdict {
  #promise: Promise<boolean> | undefined
  #settle: { resolve: (verdict: boolean) => void; reject: (error: unknown) => void } | undefined

  get promise(): Promise<boolean> {
    this.#promise ??= new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    return this.#promise
  }

  resolve(verdict: boolean): void {
    if (this.#settle !== undefined) this.#settle.resolve(verdict)
    else this.#promise ??= verdict ? yes : no
  }

  reject(error: unknown): void {
    if (this.#settle !== undefined) this.#settle.reject(error)
    else this.#promise ??= Promise.reject(error)
  }
}
