import type { Metadata } from '../store/lease-record.js'
import type { StoreCall } from '../store/store-call.js'

/** The record that a compare-and-set register keeps for a name. Every field has to come back as it was written. */
export interface CasRecord {
  /** The holder of the name; empty where the name is free. */
  readonly owner: string
  /** The id of the last grant; empty where there never was one. */
  readonly grantId: string
  /**
   * The token of the last grant; it stays in the record when the name is free. Over a register with {@link
   * CasRegister.tokenOf}, 0 in a record with an owner means that the token is that of the version which this write gets.
   */
  readonly fencingToken: bigint
  /** For how long the record has to be seen unchanged before the name may be taken over, in milliseconds. */
  readonly ttl: number
  /**
   * One larger with every write: a heartbeat changes nothing else, and has to give the record another version. A register
   * that gives every write another version by itself need not keep it.
   */
  readonly revision: number
  /** The metadata of the holder; after the end of the grant, as the last holder left it. */
  readonly metadata: Metadata
  /** While the name is held: the metadata that the holder found; absent for the first holder of a name. */
  readonly previous?: Metadata
  /** Present where the lease was broken: for how long the name stays locked, in milliseconds. */
  readonly breakPeriod?: number
  /**
   * Present where another program removed or replaced the owner of a grant that was neither released nor taken over by a
   * client of this register. Only a register that recognises such a write sets it, when it reads. The holder of the grant
   * may not know of it yet: the name stays locked until the record was seen without that holder for the ttl of the grant,
   * whatever other programs write meanwhile. While the record has the same `grantId`, it has no owner any more, and the
   * holder is refused.
   */
  readonly displaced?: DisplacedGrant
  /**
   * How often the last grant was renewed, up to this revision; for display only. Versions of this package that do not count
   * copy the field into their writes, so it says nothing if the record has another revision.
   */
  readonly renewals?: { readonly count: number; readonly revision: number }
}

/** See {@link CasRecord.displaced}. */
export interface DisplacedGrant {
  readonly grantId: string
  /** For how long its holder may still act, in milliseconds. */
  readonly ttl: number
  /** How often it was renewed: a larger number says that the holder was in the record again meanwhile. */
  readonly renewals?: number
}

/** Identifies one write of an entry: an ETag, a resource version, a revision number. */
export type CasVersion = string | number | bigint

export interface CasWritten<V extends CasVersion> {
  readonly version: V
  /** When the entry was made, in milliseconds, on the clock of the store itself; see {@link CasRegister.forgets}. */
  readonly createdAt?: number
}

export interface CasEntry<V extends CasVersion> extends CasWritten<V> {
  readonly record: CasRecord
  /**
   * The time by the clock of the store itself when it gave this answer, in milliseconds, such as that of the `Date` header
   * over HTTP. Never a time of this machine. It counts only together with `writtenAt` or `doubtedSince`, and with {@link
   * CasRegister.clockError}.
   */
  readonly readAt?: number
  /**
   * The time by the clock of the store itself when the entry got this version, in milliseconds, such as that of
   * `Last-Modified`. The store has to set it, not the client that wrote.
   */
  readonly writtenAt?: number
  /** The `since` of the last mark that {@link CasRegister.doubt} made for exactly this version. */
  readonly doubtedSince?: number
}

/**
 * The storage of a backend: three methods, each atomic for one name. They reject when the
 * outcome is unknown, end when the call is aborted, and map names injectively (see `encodeLeaseName`).
 */
export interface CasRegister<V extends CasVersion> {
  /** For errors and logs, such as `etcd`. */
  readonly kind?: string
  /**
   * Whether an entry can vanish, by an operator's hand or a lost disk. The register then has to give the store's time, so
   * that fencing tokens start above all earlier ones: by {@link CasRegister.timeAfter}, or as `createdAt` of every entry
   * and every `create`.
   */
  readonly forgets?: boolean
  /**
   * Whether writes of other programs remove the token from an entry. A raised token would then be lost with the next such
   * write: the store has no `raiseToken`.
   */
  readonly losesTokens?: boolean
  /**
   * The fencing token of a version, for a register whose versions are one counter that grows with every write of any entry,
   * over deletions too. The token of a grant is then that of the write that granted it. A claim that finds no entry is
   * therefore granted by creating one, and the next token does not need the record of a free name, unless the token in it is
   * larger than the version: it was raised.
   */
  tokenOf?(version: V): bigint
  /**
   * The time by the clock of the store itself (never by the client's), in milliseconds, after the write that gave the entry
   * this version. Called before each new grant, whose fencing token is at least this time. Tokens then keep growing where
   * an older entry returns, from a backup or a copy; without this method, and without {@link CasRegister.tokenOf}, they
   * repeat.
   *
   * An entry that returns in the same step of the clock as a later grant is not noticed. A register whose clock has large
   * steps, such as whole seconds, therefore has to wait until the step of the write is over, unless it knows that the write
   * is that of the last grant. Not called where there is {@link CasRegister.tokenOf}.
   */
  timeAfter?(name: string, version: V, call: StoreCall): Promise<number | bigint>
  /**
   * By how many milliseconds two readings of the store's clock can differ from the time that passed between them: by the
   * steps in which it is read, and by the difference of the clocks of its nodes. With it, a record counts as unchanged for
   * `readAt - writtenAt - clockError`, or for `readAt - doubtedSince - clockError`, if that is longer than this process has
   * seen it. Without it, the times of entries are ignored. A value that is too small lets a live holder be replaced.
   */
  readonly clockError?: number
  /**
   * For a store that knows the time (`readAt`), but not when an entry was written: writes down beside the entry that it had
   * this version at the time `since`, which is the `readAt` of a challenger that found the name held. Later reads of this
   * version give it as `doubtedSince`, also to other processes, so that a challenger continues the observation of the last
   * one. A read of any other version must not give it: write the version into the mark, or write it on the condition that
   * the entry has this version and remove it with each other write. The version of the entry stays the same.
   *
   * Called at most once for each name and process, and only where `doubtedSince` and `writtenAt` are absent. A rejection is
   * ignored: the next challenger makes the mark.
   */
  doubt?(name: string, version: V, since: number, call: StoreCall): Promise<void>
  /** The entry as last written, never an older one; `undefined` where there is none. */
  read(name: string, call: StoreCall): Promise<CasEntry<V> | undefined>
  /** `undefined`: there is an entry already, and nothing was written. */
  create(name: string, record: CasRecord, call: StoreCall): Promise<CasWritten<V> | undefined>
  /** `undefined`: the entry has another version, or is gone, and nothing was written. */
  replace(name: string, record: CasRecord, version: V, call: StoreCall): Promise<CasWritten<V> | undefined>
  /**
   * Yields when the entry may have changed; without it, waiters poll. An entry that it yields counts as seen: a waiter asks
   * at once if the name may be free, and only after the expiry if it is held. `undefined` always makes waiters ask.
   */
  watch?(name: string, call: StoreCall): AsyncIterable<CasEntry<V> | undefined>
  /**
   * Yields the entry of every name that starts with `prefix`, in pages, in any order. A name that has an entry throughout
   * the listing is yielded exactly once.
   */
  list?(prefix: string, call: StoreCall): AsyncIterable<CasEntry<V> & { readonly name: string }>
  close?(): Promise<void>
}
