/** An ability of a guard that some laws need. */
export type GuardAbility =
  /** The resource can be deleted through the guard. */
  | 'deletion'
  /** The resource can be read through the guard. */
  | 'reading'
  /** The guard calls code of the user, asynchronously, between its look at the fence and the write. */
  | 'interruption'
  /** A user's own code or command can fail within a write. */
  | 'own-errors'
  /** Several guards of one resource can be opened. */
  | 'guards'

/** A guard over the resource of one trial. Each method may throw, or return a promise that rejects. */
export interface GuardedResource {
  /** Writes the value through the guard. */
  write(value: string, fencingToken: bigint): unknown
  /** Deletes the resource through the guard. */
  delete?(fencingToken: bigint): unknown
  /** Reads the value through the guard, without a token. */
  read?(): unknown
  /**
   * As `write`, but `meanwhile` runs, each time that the guard calls the user's code, after the guard has looked at the
   * fence and before the value is written.
   */
  writeAfter?(value: string, fencingToken: bigint, meanwhile: () => Promise<void>): unknown
  close?(): unknown
}

/** A write that fails by the user's own fault: a command that the server rejects, or code that throws. */
export interface OwnFailure {
  /** For messages. */
  readonly name: string
  /** Writes through the guard, under the token. It has to reject. */
  guarded(guard: GuardedResource, fencingToken: bigint): unknown
  /** Makes the same write past the guard. `guarded` has to reject in the same way. */
  unguarded(): unknown
}

/** One resource, made for one trial: it was not written yet by anybody with a token. */
export interface GuardBackend {
  /** A guard of the resource as another process has it; where there can only be one, the same each time. */
  open(): GuardedResource | Promise<GuardedResource>
  /** The value, read past every guard; `undefined` where the resource is not there, or was never written. */
  read(): Promise<string | undefined> | string | undefined
  /** The ways in which the user's own part of a write can fail; each leaves the value as it is. */
  readonly ownFailures?: readonly OwnFailure[]
  /** Stops the backend of the trial. The guards are closed before. */
  stop?(): void | Promise<void>
}

/** A kind of guard as the laws see it. */
export interface GuardSubject {
  /** For test names. */
  readonly name: string
  /** Whether several guards of one resource can be opened, as by several processes; `true` unless given. */
  readonly guards?: boolean | undefined
  start(): GuardBackend | Promise<GuardBackend>
}
