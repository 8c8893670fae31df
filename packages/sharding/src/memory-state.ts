import { LeaseConflictError } from '@leasehold/core'
import type { EntityState, SavedEntity } from './entity-state.js'

interface Kept {
  readonly token: bigint
  /** As text, so that nothing is shared with the entity. */
  readonly entity: string | undefined
}

/** Keeps the snapshots of entities in memory: for tests. The regions of one process share it; it ends with the process. */
export function memoryState(): EntityState {
  return new MemoryState()
}

class MemoryState implements EntityState {
  readonly #kept = new Map<string, Kept>()
  readonly #regions = new Map<string, EntityState>()

  forRegion(name: string): EntityState {
    const state = this.#regions.get(name) ?? new MemoryState()
    this.#regions.set(name, state)
    return state
  }

  async load(id: string, token: bigint): Promise<SavedEntity | undefined> {
    const { entity } = this.#check(id, token)
    this.#kept.set(id, { token, entity })
    return entity === undefined ? undefined : JSON.parse(entity)
  }

  async save(id: string, entity: SavedEntity, token: bigint): Promise<void> {
    this.#check(id, token)
    this.#kept.set(id, { token, entity: JSON.stringify(entity) })
  }

  #check(id: string, token: bigint): Kept {
    const kept = this.#kept.get(id)
    if (kept === undefined || kept.token <= token) return kept ?? { token, entity: undefined }
    throw new LeaseConflictError(`entity '${id}' belongs to a later owner: its token is ${kept.token}, not ${token}`)
  }
}
