import { LeaseConfigurationError, LeaseError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { isUnconnected, networkMessage } from '@leasehold/core/store-kit'

/** The rights that the operations of a store need. */
const OPERATIONS =
  'the user needs USAGE on the schema; SELECT, INSERT, UPDATE and DELETE on its tables; and EXECUTE on its functions'

/** Where the server does not know a table or a function. */
export const OUTDATED =
  'the tables or functions are missing or too old: call migrate() of @leasehold/postgres, and give the store the same schema ' +
  'and table'

/** The SQLSTATE of an error of the server; `undefined` for other errors, such as those of the network. */
export function sqlStateOf(error: unknown): string | undefined {
  const code: unknown = (error as { code?: unknown } | null | undefined)?.code
  // Codes of the network, such as EPIPE, have five capitals too; SQLSTATE has a digit.
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/**
 * The typed error for a failed action, such as `acquire of lease 'job'`. Its message has that of the server or client, and
 * the rights that the action needs if the user lacks one.
 */
export function failureOf(action: string, leaseName: string, error: unknown, rights = OPERATIONS): LeaseError {
  if (error instanceof LeaseError) return error
  const message = networkMessage(error)
  const details: LeaseErrorDetails = { leaseName, store: 'postgres', cause: error }
  const failed = `${action} failed: ${message}`
  const state = sqlStateOf(error) ?? ''
  if (state === '42501') return new LeaseUnauthorisedError(`${failed}: ${rights}`, details)
  if (state.startsWith('28')) {
    return new LeaseUnauthorisedError(`${failed}: check the user, the password and pg_hba.conf`, details)
  }
  if (state === '42P01' || state === '3F000' || state === '42883' || state === '42703') {
    return new LeaseConfigurationError(`${failed}: ${OUTDATED}`, details)
  }
  if (state === '3D000')
    return new LeaseConfigurationError(`${failed}: create the database, or correct the URL`, details)
  if (state === '22P05' || state === '22021') {
    return new LeaseConfigurationError(`${failed}: the encoding of the database must be UTF8`, details)
  }
  if (state === '25006') {
    return new LeaseUnavailableError(
      `${failed}: the server is read-only, perhaps a standby: connect to the primary, and do not set ` +
        'default_transaction_read_only',
      details,
    )
  }
  if (state === '55P03') {
    return new LeaseUnavailableError(`${failed}: another transaction has locked the row of the lease`, details)
  }
  const advice = isUnconnected(error) ? ': check the URL, and whether PostgreSQL runs there' : ''
  return new LeaseUnavailableError(`${failed}${advice}`, details)
}
