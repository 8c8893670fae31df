import { LeaseStoreUnfitError } from '../errors/lease-store-unfit-error.js'
import type { StoreCall } from '../store/store-call.js'
import type { StoreFinding } from '../store/store-finding.js'
import { untilAborted } from './until-aborted.js'

/** One run of the check, for all callers that wait for it. */
interface Run {
  readonly call: StoreCall
  readonly unfit: Promise<readonly StoreFinding[]>
}

/**
 * Checks before the first grant of a store whether it keeps the conditions of leases. Callers that come at once share one
 * check. It is repeated until the store passes it: a server that is down says nothing, and an operator may correct a setting.
 */
export class FirstUseProbe {
  readonly #kind: string
  readonly #check: (leaseName: string, call: StoreCall) => Promise<readonly StoreFinding[]>
  #isDue: boolean
  #run: Run | undefined

  /**
   * `isOn`: whether the store has to be checked at all. `check` resolves with its findings. It rejects where the outcome is
   * unknown, as an operation of the store does.
   */
  constructor(
    kind: string,
    isOn: boolean,
    check: (leaseName: string, call: StoreCall) => Promise<readonly StoreFinding[]>,
  ) {
    this.#kind = kind
    this.#isDue = isOn
    this.#check = check
  }

  /** Whether the store has still to be checked. */
  get isDue(): boolean {
    return this.#isDue
  }

  /**
   * Resolves if the store keeps the conditions. Rejects with a `LeaseStoreUnfitError` if it breaks one, as the check does if
   * its outcome is unknown, and with the reason of an abort of the call.
   */
  async require(leaseName: string, call: StoreCall): Promise<void> {
    while (this.#isDue) {
      this.#run ??= { call, unfit: this.#unfit(leaseName, call) }
      const run = this.#run
      let unfit: readonly StoreFinding[]
      try {
        unfit = await untilAborted(run.unfit, call)
      } catch (error) {
        // The caller that began the check has given up; this one has not.
        if (run.call.aborted && !call.aborted) continue
        throw error
      }
      requireFit(this.#kind, leaseName, unfit)
    }
  }

  async #unfit(leaseName: string, call: StoreCall): Promise<readonly StoreFinding[]> {
    try {
      const unfit = (await this.#check(leaseName, call)).filter(({ result }) => result === 'failed')
      if (unfit.length === 0) this.#isDue = false
      return unfit
    } finally {
      this.#run = undefined
    }
  }
}

/** Throws a `LeaseStoreUnfitError` if one of the findings has failed. */
export function requireFit(store: string, leaseName: string, findings: readonly StoreFinding[]): void {
  const unfit = findings.filter(({ result }) => result === 'failed')
  if (unfit.length === 0) return
  const faults = unfit.map(({ check, found, change }) =>
    [found ?? `it breaks the condition '${check}'`, change].filter((part) => part !== undefined).join(': '),
  )
  const setting = unfit.map((finding) => finding.setting ?? finding.check)[0]
  throw new LeaseStoreUnfitError(
    `the ${store} store is not fit for leases: ${faults.join('; ')}. The option probe: false turns this check off`,
    { store, leaseName, ...(setting === undefined ? {} : { setting }) },
  )
}
