import type { Json } from './message.js'

/** What is kept of an entity. */
export interface SavedEntity {
  /** The persisted snapshot of the actor. */
  readonly snapshot: Json
  /** The version of the snapshot, as given to the region: see `migrate`. */
  readonly version: number
  /** The ids of the last messages that the entity has handled, the oldest first. */
  readonly handled: readonly string[]
}

/**
 * Keeps the snapshots of entities. Every process of a region uses the same place.
 *
 * The fencing token is that of the shard's lease: it grows with every owner of the shard. A process that has lost its shard
 * without knowing it has a smaller token, and must not write.
 */
export interface EntityState {
  /**
   * The entity as saved last; `undefined` if it never was. From then on, no `save` with a smaller token has an effect: a late
   * write of the owner before must not replace what this one goes on from. Rejects with a `LeaseConflictError` if a larger
   * token has loaded or saved the entity.
   */
  load(id: string, token: bigint): Promise<SavedEntity | undefined>
  /**
   * Saves the entity, whole or not at all. Rejects with a `LeaseConflictError` if a larger token has loaded or saved it;
   * with another error if it is not known whether it was saved: a late write may still arrive, so that the entity goes on
   * only after a `load` under a larger token.
   */
  save(id: string, entity: SavedEntity, token: bigint): Promise<void>
  /**
   * The state of one region: entities of two regions may have the same id. A region calls it once, before all else. Absent:
   * the state serves one region.
   */
  forRegion?(name: string): EntityState
  /** Ends what the state opened itself. */
  close?(): Promise<void>
}

/** Closes the part of a state that a region has used. A state that cannot be closed costs an error, and nothing else. */
export async function closeState(
  state: EntityState | undefined,
  report: (error: unknown, what: string) => void,
): Promise<void> {
  try {
    await state?.close?.()
  } catch (error) {
    report(error, 'the state could not be closed')
  }
}
