import { LeaseConfigurationError, LeaseError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { isUnconnected, networkMessage } from '@leasehold/core/store-kit'

/** The rights that the operations of a store need. */
const OPERATIONS = 'the user needs SELECT, INSERT, UPDATE and DELETE on the tables'

export const READ_ONLY =
  'the server is read-only, perhaps a replica: connect to the primary. A replica would answer from the past'

/** The table does not exist. */
export const NO_TABLE = 1146

/** A row with this key exists already. */
export const DUPLICATE = 1062

/** The server refuses a transaction statement in a prepared statement. */
export const NOT_PREPARABLE = 1295

/** There is no such savepoint. */
export const NO_SAVEPOINT = 1305

/**
 * Conflicts with another transaction, and with one of another node of Galera or Group Replication: nothing was changed, and a
 * repetition may succeed. A wait for a lock that took too long is one of them.
 */
const CONFLICTS: ReadonlySet<number | undefined> = new Set([1205, 1213, 3101])

/** The server cannot write. */
const READ_ONLY_ERRORS: ReadonlySet<number | undefined> = new Set([1290, 1792, 1836])

/** Rights, the user or the password. */
const UNAUTHORISED: ReadonlySet<number | undefined> = new Set([1044, 1142, 1143, 1227, 1370])
const UNKNOWN_USER: ReadonlySet<number | undefined> = new Set([1045, 1130, 1698, 1820, 1862, 3118, 4151])

/** The number of an error of the server; `undefined` for other errors, such as those of the network. */
export function errorNumberOf(error: unknown): number | undefined {
  const { errno, sqlState } = (error ?? {}) as { readonly errno?: unknown; readonly sqlState?: unknown }
  // Errors of the network have a negative number, and those of a client no state, or one of the client.
  return typeof errno === 'number' && errno > 0 && errno < 10_000 && typeof sqlState === 'string' ? errno : undefined
}

/** The number in an error of Prisma, which has that of the server within its `meta`. */
export function prismaNumberOf(error: unknown): number | undefined {
  const { meta, cause } = error as { readonly meta?: PrismaMeta; readonly cause?: { readonly originalCode?: unknown } }
  const code = meta?.driverAdapterError?.cause?.originalCode ?? cause?.originalCode ?? meta?.code
  return typeof code === 'string' && /^\d+$/.test(code) ? Number(code) : undefined
}

interface PrismaMeta {
  /** Without a driver adapter. */
  readonly code?: unknown
  readonly driverAdapterError?: { readonly cause?: { readonly originalCode?: unknown } }
}

export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(errorNumberOf(error))
}

function isReadOnly(error: unknown): boolean {
  return READ_ONLY_ERRORS.has(errorNumberOf(error))
}

/** Whether the connection can be used again after this error: the server has answered, and it can write. */
export function isUsable(error: unknown): boolean {
  const isFatal = (error as { readonly fatal?: unknown } | null | undefined)?.fatal === true
  return !isFatal && errorNumberOf(error) !== undefined && !isReadOnly(error)
}

/**
 * The typed error for a failed action, such as `acquire of lease 'job'`. Its message has that of the server or client, and
 * the rights that the action needs if the user lacks one.
 */
export function failureOf(action: string, leaseName: string, error: unknown, rights = OPERATIONS): LeaseError {
  if (error instanceof LeaseError) return error
  const details: LeaseErrorDetails = { leaseName, store: 'mysql', cause: error }
  // Clients add the statement to the message.
  const text = (error as { readonly sqlMessage?: unknown } | null | undefined)?.sqlMessage
  const failed = `${action} failed: ${typeof text === 'string' ? text : networkMessage(error)}`
  const number = errorNumberOf(error)
  if (UNAUTHORISED.has(number)) return new LeaseUnauthorisedError(`${failed}: ${rights}`, details)
  if (UNKNOWN_USER.has(number)) {
    return new LeaseUnauthorisedError(`${failed}: check the user, the password, and from where it may connect`, details)
  }
  const advice = configurationAdvice(number)
  if (advice !== undefined) return new LeaseConfigurationError(`${failed}: ${advice}`, details)
  return new LeaseUnavailableError(`${failed}${availabilityAdvice(number, error)}`, details)
}

function configurationAdvice(number: number | undefined): string | undefined {
  if (number === NO_TABLE) return 'call migrate() of @leasehold/mysql, and give the store the same database and table'
  if (number === 1054)
    return 'the table is not one of @leasehold/mysql, or of another version: give the store another table'
  if (number === 1049) return 'create the database, or correct the URL'
  return number === 1046 ? 'name the database in the URL or the pool, or by the option database' : undefined
}

function availabilityAdvice(number: number | undefined, error: unknown): string {
  if (READ_ONLY_ERRORS.has(number)) return `: ${READ_ONLY}`
  if (number === 1205) return ': another transaction has locked the row of the lease'
  if (number === 1040 || number === 1203) return ': use smaller pools, or raise max_connections'
  if (number === 1047) return ': this node of the cluster has lost the others'
  return isUnconnected(error) ? ': check the URL, and whether MySQL or MariaDB runs there' : ''
}
