import { CRASH, FAIL, GIVE_UP } from './action.js'
import { considersItselfHolder, NOBODY, type World } from './world.js'

/** Steps without which every state has to reach its goals: a client has to come to them without giving up or crashing. */
export function isHelpful(kind: number): boolean {
  return kind !== CRASH && kind !== GIVE_UP && kind !== FAIL
}

/** What every state can reach. */
export const goals = ['someone holds the lease', 'no call is pending'] as const

/** Which goals a state has reached, as bits. */
export function goalsIn({ clients }: World): number {
  const isHeld = clients.some(considersItselfHolder)
  const isQuiet = clients.every(({ waits, engine }) => waits === NOBODY && engine.phase !== 'releasing')
  return (isHeld ? 1 : 0) | (isQuiet ? 2 : 0)
}

const ALL = 2 ** goals.length - 1

/**
 * The graph of all states, for what can be reached from each of them. States are added in the order of their numbers, each
 * with the states to which its helpful steps lead.
 */
export class ProgressGraph {
  #targets = new Int32Array(1 << 16)
  #count = 0
  /** Where the targets of each state end. */
  #ends = new Int32Array(1 << 14)
  #size = 0
  #goals = new Uint8Array(1 << 14)

  get edges(): number {
    return this.#count
  }

  addTarget(number: number): void {
    if (this.#count === this.#targets.length) {
      const longer = new Int32Array(this.#count * 2)
      longer.set(this.#targets)
      this.#targets = longer
    }
    this.#targets[this.#count] = number
    this.#count += 1
  }

  /** Ends the targets of the next state, which has reached these goals itself. */
  endState(reached: number): void {
    if (this.#size === this.#ends.length) {
      const [ends, goals] = [new Int32Array(this.#size * 2), new Uint8Array(this.#size * 2)]
      ends.set(this.#ends)
      goals.set(this.#goals)
      this.#ends = ends
      this.#goals = goals
    }
    this.#ends[this.#size] = this.#count
    this.#goals[this.#size] = reached
    this.#size += 1
  }

  /**
   * The first state from which a goal cannot be reached, and that goal; `undefined` if there is none. States that were not
   * added, because the exploration ended before, count as if they had reached all goals.
   */
  stuck(): { readonly number: number; readonly goal: number } | undefined {
    const reached = this.#goals
    for (let changed = true; changed; ) {
      changed = false
      // Backwards, because most steps lead to states that were found later.
      for (let number = this.#size - 1; number >= 0; number -= 1) {
        let sum = reached[number] as number
        if (sum === ALL) continue
        const end = this.#ends[number] as number
        for (let at = number === 0 ? 0 : (this.#ends[number - 1] as number); at < end; at += 1) {
          const target = this.#targets[at] as number
          sum |= target < this.#size ? (reached[target] as number) : ALL
        }
        if (sum === reached[number]) continue
        reached[number] = sum
        changed = true
      }
    }
    for (let number = 0; number < this.#size; number += 1) {
      for (let goal = 0; goal < goals.length; goal += 1) {
        if (((reached[number] as number) & (1 << goal)) === 0) return { number, goal }
      }
    }
    return undefined
  }
}
