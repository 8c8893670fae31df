import { Fence } from '@leasehold/core/store'
import { checkOptionNames } from '@leasehold/core/store-kit'
import type { EntityState } from './entity-state.js'
import { FencedState, STATE_OPTIONS, type StateOptions } from './state/fenced-state.js'

interface Kept {
  readonly token: bigint
  /** As text, so that nothing is shared with the entity. */
  readonly text: string | undefined
}

/** Keeps the snapshots of entities in memory: for tests. The regions of one process share it; it ends with the process. */
export function memoryState(options: StateOptions = {}): EntityState {
  checkOptionNames<StateOptions>('memoryState', options, STATE_OPTIONS, { store: 'memory' })
  return new MemoryState(options)
}

class MemoryState extends FencedState {
  readonly #kept = new Map<string, Kept>()
  readonly #regions = new Map<string, EntityState>()

  constructor(options: StateOptions) {
    super('memory', options)
  }

  forRegion(name: string): EntityState {
    const state = this.#regions.get(name) ?? new MemoryState(this.options)
    this.#regions.set(name, state)
    return state
  }

  protected async read(id: string, token: bigint): Promise<string | undefined> {
    const text = this.#check(id, token)
    this.#kept.set(id, { token, text })
    return text
  }

  protected async write(id: string, text: string, token: bigint): Promise<void> {
    this.#check(id, token)
    this.#kept.set(id, { token, text })
  }

  protected failureOf(_action: string, _id: string, error: unknown): unknown {
    return error
  }

  #check(id: string, token: bigint): string | undefined {
    const kept = this.#kept.get(id)
    new Fence('memory', id, token).check(kept?.token)
    return kept?.text
  }
}
