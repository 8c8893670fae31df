import type { Clock } from '@leasehold/core'
import { LeaseConflictError } from '@leasehold/core'
import type { Random } from '@leasehold/simulator'
import type { EntityState, SavedEntity } from '../../src/entity-state.js'

/** The snapshots of a schedule. Its answers may be lost, and a write may take effect long after its process has given it up. */
export class SimulatedState {
  /** Called with each entity that takes the place of the one before. */
  onSaved: (id: string, saved: SavedEntity) => void = () => {}
  readonly #kept = new Map<string, { token: bigint; text: string | undefined }>()
  /** Writes that are still on their way. */
  readonly #late: (() => void)[] = []

  saved(id: string): SavedEntity | undefined {
    const text = this.#kept.get(id)?.text
    return text === undefined ? undefined : JSON.parse(text)
  }

  /** The state as one process sees it. */
  of(clock: Clock, random: Random, longest: number): EntityState {
    const call = <T>(act: () => T): Promise<T> =>
      new Promise((resolve, reject) => {
        const pass = (task: () => void): void => {
          clock.schedule(random.between(0, longest), task)
        }
        pass(() => {
          if (random.chance(0.5)) this.#late.shift()?.()
          const fault = random.chance(0.02) ? random.pick(['before', 'after', 'late', 'silent'] as const) : undefined
          if (fault === 'late') this.#late.push(() => settle(act))
          const outcome = fault === undefined || fault === 'after' ? settle(act) : undefined
          if (fault === 'silent') return
          pass(() => {
            if (outcome === undefined || fault !== undefined) reject(new Error('connection reset'))
            else if ('value' in outcome) resolve(outcome.value)
            else reject(outcome.error)
          })
        })
      })
    return {
      load: (id, token) => call(() => this.#load(id, token)),
      save: (id, saved, token) => {
        const text = JSON.stringify(saved)
        return call(() => this.#save(id, text, token))
      },
    }
  }

  #load(id: string, token: bigint): SavedEntity | undefined {
    this.#check(id, token)
    this.#kept.set(id, { token, text: this.#kept.get(id)?.text })
    return this.saved(id)
  }

  #save(id: string, text: string, token: bigint): void {
    this.#check(id, token)
    this.#kept.set(id, { token, text })
    this.onSaved(id, JSON.parse(text))
  }

  #check(id: string, token: bigint): void {
    const kept = this.#kept.get(id)
    if (kept !== undefined && kept.token > token) throw new LeaseConflictError(`${id} belongs to a later owner`)
  }
}

function settle<T>(act: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: act() }
  } catch (error) {
    return { error }
  }
}
