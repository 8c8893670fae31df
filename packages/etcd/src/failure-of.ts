import { LeaseConfigurationError, LeaseError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { isNoSpace, isRpcError, type RpcError } from './client/rpc-error.js'

const UNAVAILABLE = 14
const UNAUTHENTICATED = 16
const PERMISSION_DENIED = 7

/**
 * The typed error for a failed operation. Its message names the operation and has the message of the server. `access`: the
 * keys that the user has to read and write.
 */
export function failureOf(operation: string, leaseName: string, error: unknown, access = 'the prefix'): LeaseError {
  if (error instanceof LeaseError) return error
  const details: LeaseErrorDetails = { leaseName, store: 'etcd', cause: error }
  const message = isRpcError(error) ? textOf(error) : error instanceof Error ? error.message : String(error)
  const asked = leaseName === '' ? operation : `${operation} of lease '${leaseName}'`
  const failed = `${asked} failed: ${message}`
  if (isNoSpace(error)) {
    return new LeaseUnavailableError(
      `${failed}: the database of etcd is full: compact and defragment it, then run 'etcdctl alarm disarm'`,
      details,
    )
  }
  if (isRpcError(error)) return rpcFailure(failed, error, details, access)
  return new LeaseUnavailableError(failed, details)
}

function rpcFailure(
  failed: string,
  { code, details: text }: RpcError,
  details: LeaseErrorDetails,
  access: string,
): LeaseError {
  if (code === PERMISSION_DENIED) {
    return new LeaseUnauthorisedError(`${failed}: grant the user read and write access to ${access}`, details)
  }
  if (code === UNAUTHENTICATED || /invalid user ID or password|user name is empty/.test(text)) {
    return new LeaseUnauthorisedError(`${failed}: check the username and the password`, details)
  }
  if (code === UNAVAILABLE && !text.includes('etcdserver')) {
    return new LeaseUnavailableError(`${failed}: check the endpoints, and whether etcd runs there`, details)
  }
  if (/too many operations/.test(text)) {
    return new LeaseConfigurationError(`${failed}: leave --max-txn-ops of etcd at 128 or above`, details)
  }
  if (/unknown service|unknown method/.test(text)) {
    return new LeaseConfigurationError(`${failed}: the server must be etcd 3.4 or later`, details)
  }
  return new LeaseUnavailableError(failed, details)
}

/** The text of the server, or of gRPC where there was no answer: without its time stamps, and without its empty last part. */
function textOf({ details }: RpcError): string {
  const text = details.replaceAll(/\s+/g, ' ').replace(/ ?Resolution note: ?$/, '')
  return text.replaceAll(/ ?\(\d{4}-[\d-]+T[\d:.]+Z\)/g, '').replace(/\.$/, '')
}
