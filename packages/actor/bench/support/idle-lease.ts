import { type AcquireOptions, Lease, LeaseSettings } from '@leasehold/core'

const settings = new LeaseSettings({ name: 'bench', owner: 'bench' })

/** A lease that costs next to nothing, so that what is measured is the guard. */
export class IdleLease extends Lease {
  readonly #answer: 'grant' | 'deny' | 'none'
  #held = false

  constructor(answer: 'grant' | 'deny' | 'none') {
    super(settings)
    this.#answer = answer
  }

  override acquire(_options?: AcquireOptions): Promise<boolean> {
    if (this.#answer === 'none') return new Promise(() => {})
    this.#held = this.#answer === 'grant'
    return Promise.resolve(this.#held)
  }

  override release(): Promise<boolean> {
    this.#held = false
    return Promise.resolve(true)
  }

  override checkLease(): boolean {
    return this.#held
  }
}
