import type { Acknowledged, Totals } from './teller.js'

/** What the accounts have acknowledged, and whether they still know it. */
export class Ledger {
  /** The key of each acknowledged change, by its account and its number. */
  readonly #changes = new Map<string, string>()
  readonly #faults: string[] = []

  /** How many changes were acknowledged. */
  get size(): number {
    return this.#changes.size
  }

  add(changes: readonly Acknowledged[]): void {
    for (const [account, change, key] of changes) {
      const id = `${account} ${change}`
      const before = this.#changes.get(id)
      if (before !== undefined && before !== key) {
        this.#faults.push(`change ${change} of ${account} was acknowledged for '${before}' and for '${key}'`)
      }
      this.#changes.set(id, key)
    }
  }

  /** What is broken, given what the accounts have at the end, and what they had at the beginning together. */
  faultsOf(totals: readonly Totals[], begun: number): readonly string[] {
    const balance = totals.reduce((sum, one) => sum + one.balance, 0)
    const open = totals.reduce((sum, one) => sum + one.open, 0)
    const known = new Map(totals.flatMap(({ changes }) => changes))
    const faults = [...this.#faults]
    if (balance !== begun) faults.push(`the accounts have ${balance} together, and had ${begun}`)
    if (open > 0) faults.push(`${open} transfers are not complete`)
    for (const id of this.#changes.keys()) {
      const [account = '', change] = id.split(' ')
      if (Number(change) > (known.get(account) ?? 0))
        faults.push(`${account} has lost its acknowledged change ${change}`)
    }
    return faults.length > 20 ? [...faults.slice(0, 20), `and ${faults.length - 20} more`] : faults
  }
}
