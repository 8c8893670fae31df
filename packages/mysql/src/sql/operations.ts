import type { Grant } from '@leasehold/core'
import { bytesLiteral, textLiteral } from '../sql-text.js'
import type { SqlNames } from '../table-names.js'

/** The time of the server, in microseconds since 1970: when the statement began. */
const NOW = "timestampdiff(microsecond, timestamp'1970-01-01 00:00:00', utc_timestamp(6))"

/** `locked_until` of a lease without an expiry. */
const ENDLESS = '9223372036854775807'

/** The state that a locked row of a holder has. */
export const HELD = `state = 'leased' and locked_until > ${NOW}`

/** Finds the row without the index that a guard has locked. */
const BY_ROW = 'force index (primary)'

/** How long the place of a waiter without an expiry is kept, in milliseconds, unless it asks again. */
const ENDLESS_PLACE = 60_000

const EXTENDED = `locked_until = if(ttl is null, ${ENDLESS}, ${NOW} + ttl * 1000)`

const RENEWED = `${EXTENDED}, renewals = renewals + 1`

/** What a look at a name finds out beside its record. */
export interface LookOptions {
  /** Whether it tries the lock that a new grant needs: of a free row for `free`, of a held one for `held`. */
  readonly tries?: 'free' | 'held'
}

/** The columns of a claim. */
export interface ClaimColumns {
  readonly name: string
  readonly grantId: string
  readonly owner: string
  /** Milliseconds; `null` without an expiry. */
  readonly ttl: number | null
  /** JSON; `null` keeps what the last holder left. */
  readonly metadata: string | null
}

/** A grant in the columns of the index. */
interface GrantKey {
  readonly name: string
  readonly grantId: string
}

/**
 * The statements of the operations. Each is atomic by itself, and does nothing if the row is no longer as it was seen: so no
 * lock is held while a client thinks, and a process that is stopped between two statements holds up nobody.
 */
export class Operations {
  readonly #names: SqlNames

  constructor(names: SqlNames) {
    this.#names = names
  }

  /** One row, also for a name without a record. */
  look(name: string, { tries }: LookOptions = {}): string {
    const { leases } = this.#names
    const isTried = tries === 'held' ? `not (l.locked_until > ${NOW})` : `l.locked_until > ${NOW}`
    // A guard in an open transaction keeps this index entry. The subquery is run, and locks, only if the condition is false.
    const unlocked =
      tries === undefined
        ? '1'
        : `if(l.name is null or ${isTried}, 1, (select count(*) from ${leases} g force index (lease_grant) where g.granted_at = l.granted_at and g.name = l.name and g.grant_id = l.grant_id for update skip locked))`
    return `${this.#select('n.name', unlocked)} from (select ${bytesLiteral(name)} as name) n left join ${leases} l on l.name = n.name`
  }

  /** The rows of the names that have records. */
  lookAll(names: readonly string[]): string {
    return `${this.#select('l.name', '1')} from ${this.#names.leases} l where l.name in (${names.map(bytesLiteral).join(', ')})`
  }

  /** A page of records by name, after a name. */
  list(prefix: string, after: string | undefined, most: number): string {
    const bytes = Buffer.from(prefix)
    const from = after === undefined ? `l.name >= ${bytesLiteral(prefix)}` : `l.name > ${bytesLiteral(after)}`
    // UTF-8 has no byte of 255.
    const before = bytes.length === 0 ? '' : ` and l.name < X'${bytes.toString('hex')}ff'`
    return `${this.#select('l.name', '1')} from ${this.#names.leases} l where ${from}${before} order by l.name limit ${most}`
  }

  #select(name: string, unlocked: string): string {
    const alive = `from ${this.#names.waiters} w where w.name = ${name} and w.kept_until`
    const record = [
      ...['l.version', 'l.state', 'hex(l.grant_id)', 'hex(l.owner)', 'l.fencing_token', orNone('l.ttl')],
      ...[
        `if(l.locked_until = ${ENDLESS}, 'endless', l.locked_until)`,
        'hex(l.metadata)',
        orNone('hex(l.break_reason)'),
      ],
      ...[orNone('hex(l.previous)'), orNone('hex(l.previous_reason)'), 'l.granted_at', 'l.renewals', 'hex(l.name)'],
    ]
    const head = [
      ...[NOW, '@@global.read_only + @@global.innodb_read_only', unlocked],
      `ifnull((select hex(w.grant_id) ${alive} > ${NOW} order by w.place limit 1), '-')`,
      `(select count(*) ${alive} > ${NOW})`,
      `(select count(*) ${alive} <= ${NOW})`,
    ]
    // One column of text, which no option of a client changes. A record that is not there has no fields.
    return `select concat_ws(',', ${head.join(', ')}, if(l.name is null, null, concat_ws(',', ${record.join(', ')}))) as answer`
  }

  /** Grants a name without a row. It fails with a duplicate key if there is one by now. */
  insert({ name, grantId, owner, ttl, metadata }: ClaimColumns): string {
    const until = ttl === null ? ENDLESS : `${NOW} + ${ttl} * 1000`
    const left = textLiteral(metadata ?? '{}')
    return `insert into ${this.#names.leases} (name, grant_id, fencing_token, ttl, granted_at, locked_until, renewals, version, state, owner, metadata) values (${bytesLiteral(name)}, ${bytesLiteral(grantId)}, last_insert_id(${NOW}), ${ttl ?? 'null'}, ${NOW}, ${until}, 0, 1, 'leased', ${textLiteral(owner)}, ${left})`
  }

  /** Grants a name that is free, and was not changed since it was seen. */
  grant({ name, grantId, owner, ttl, metadata }: ClaimColumns, version: string): string {
    const until = ttl === null ? ENDLESS : `${NOW} + ${ttl} * 1000`
    const set = [
      // Assigned from left to right.
      ...['previous = metadata', 'previous_reason = break_reason', 'break_reason = null'],
      ...(metadata === null ? [] : [`metadata = ${textLiteral(metadata)}`]),
      ...[`grant_id = ${bytesLiteral(grantId)}`, `owner = ${textLiteral(owner)}`, `ttl = ${ttl ?? 'null'}`],
      ...[
        `granted_at = ${NOW}`,
        `locked_until = ${until}`,
        'renewals = 0',
        'version = version + 1',
        "state = 'leased'",
      ],
      `fencing_token = last_insert_id(greatest(fencing_token + 1, ${NOW}))`,
    ]
    return this.#update(set, name, `version = ${version} and locked_until <= ${NOW}`)
  }

  /** A repeated request of the holder. */
  repeat({ name, grantId, owner, ttl, metadata }: ClaimColumns): string {
    const until = ttl === null ? ENDLESS : `${NOW} + ${ttl} * 1000`
    const left = metadata === null ? [] : [`metadata = ${textLiteral(metadata)}`]
    const set = [`owner = ${textLiteral(owner)}`, `ttl = ${ttl ?? 'null'}`, `locked_until = ${until}`, ...left]
    return this.#update([...set, 'version = version + 1'], name, `grant_id = ${bytesLiteral(grantId)} and ${HELD}`)
  }

  /**
   * Many grants in one statement. Those that have ended are left out. A late duplicate of a claim can be granted again, under
   * the same id and with a larger token: the earlier grant stays over.
   */
  renew(grants: readonly Grant[]): string {
    const each = grants.map(({ name, grantId, fencingToken }) => {
      return `(name = ${bytesLiteral(name)} and grant_id = ${bytesLiteral(grantId)} and fencing_token <= ${fencingToken})`
    })
    return `update ${this.#names.leases} ${BY_ROW} set ${RENEWED} where state = 'leased' and (${each.join(' or ')})`
  }

  update(grant: Grant, metadata: string): string {
    const set = [RENEWED, `metadata = ${textLiteral(metadata)}`, 'break_reason = null', 'version = version + 1']
    return this.#update(set, grant.name, isInForce(grant))
  }

  /** `raised`: the grant with the new token. A token that is as large already stays. */
  raise(raised: Grant, token: bigint): string {
    const set = [RENEWED, `fencing_token = greatest(fencing_token, ${token})`, 'version = version + 1']
    return this.#update(set, raised.name, isInForce(raised))
  }

  /** `token`: a later grant under the same id keeps its metadata. */
  release({ name, grantId }: GrantKey, metadata: string | null, token: bigint): string {
    const left =
      metadata === null
        ? []
        : [`metadata = if(fencing_token > ${token}, metadata, ${textLiteral(metadata)})`, 'break_reason = null']
    const set = [...left, "state = 'available'", 'locked_until = 0', 'version = version + 1']
    return this.#update(set, name, `grant_id = ${bytesLiteral(grantId)} and state <> 'available'`)
  }

  /** Passes a held lease on, without a moment in which it is free. */
  change(
    { name, grantId }: GrantKey,
    to: { readonly grantId: string; readonly owner: string },
    version: string,
  ): string {
    const set = [
      ...['previous = metadata', 'previous_reason = break_reason', 'break_reason = null'],
      ...[`grant_id = ${bytesLiteral(to.grantId)}`, `owner = ${textLiteral(to.owner)}`, `granted_at = ${NOW}`],
      ...[EXTENDED, 'renewals = 0', 'version = version + 1'],
      `fencing_token = last_insert_id(greatest(fencing_token + 1, ${NOW}))`,
    ]
    const isOurs = `grant_id = ${bytesLiteral(grantId)} and version = ${version} and ${HELD}`
    return this.#update(set, name, isOurs)
  }

  /** A change whose answer was lost. */
  changed({ name, grantId, owner }: GrantKey & { readonly owner: string }): string {
    const set = [RENEWED, `owner = ${textLiteral(owner)}`, 'version = version + 1']
    return this.#update(set, name, `grant_id = ${bytesLiteral(grantId)} and ${HELD}`)
  }

  /** The milliseconds that are left are the inserted id. */
  break(name: string, period: number | null, reason: string | null, grantId: string | null): string {
    const rest = `((locked_until - ${NOW} + 999) div 1000)`
    const left = `case when locked_until = ${ENDLESS} then ${period ?? 0} when locked_until > ${NOW} then ${period === null ? rest : `least(${period}, ${rest})`} else 0 end`
    const set = [
      ...(reason === null ? [] : [`break_reason = ${textLiteral(reason)}`]),
      `state = if((${left}) > 0, 'breaking', 'broken')`,
      // The old value of the column, which is assigned only now.
      `locked_until = if(last_insert_id(${left}) > 0, ${NOW} + (${left}) * 1000, 0)`,
      'version = version + 1',
    ]
    const isMeant = grantId === null ? '' : ` and grant_id = ${bytesLiteral(grantId)}`
    return this.#update(set, name, `state <> 'available'${isMeant}`)
  }

  /** Takes a place in the queue, or keeps the one that there is. */
  wait({ name, grantId }: GrantKey, ttl: number | null): string {
    const until = `${NOW} + ${ttl ?? ENDLESS_PLACE} * 1000`
    return `insert into ${this.#names.waiters} (name, grant_id, kept_until) values (${bytesLiteral(name)}, ${bytesLiteral(grantId)}, ${until}) on duplicate key update kept_until = ${until}`
  }

  leave({ name, grantId }: GrantKey): string {
    return `delete from ${this.#names.waiters} where name = ${bytesLiteral(name)} and grant_id = ${bytesLiteral(grantId)}`
  }

  /** Removes the waiters of a name that have not asked again in time. */
  dropDead(name: string): string {
    return `delete from ${this.#names.waiters} where name = ${bytesLiteral(name)} and kept_until <= ${NOW}`
  }

  #update(set: readonly string[], name: string, isOurs: string): string {
    return `update ${this.#names.leases} ${BY_ROW} set ${set.join(', ')} where name = ${bytesLiteral(name)} and ${isOurs}`
  }
}

function isInForce({ grantId, fencingToken }: Grant): string {
  return `grant_id = ${bytesLiteral(grantId)} and state = 'leased' and fencing_token <= ${fencingToken}`
}

function orNone(value: string): string {
  return `ifnull(${value}, '-')`
}
