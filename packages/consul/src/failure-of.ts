import {
  LeaseConfigurationError,
  LeaseConflictError,
  type LeaseError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { isUnconnected, networkMessage } from '@leasehold/core/store-kit'
import type { ConsulAnswer } from './http/consul-answer.js'

const PERMISSIONS = 'key:write on the prefix of the leases and session:write on the node of the agent'

/** Whether the server said that the ACL token lacks a permission, or that there is no such token. */
export function isDenied(said: string): boolean {
  return /permission denied|acl not found/i.test(said)
}

/**
 * The error for an answer that no operation expects. The message of the server is only passed on. `permissions`: those that
 * the ACL token needs.
 */
export function failureOf(
  operation: string,
  leaseName: string | undefined,
  answer: ConsulAnswer,
  permissions = PERMISSIONS,
): LeaseError {
  const said = answer.text.trim().slice(0, 300)
  const details: LeaseErrorDetails = {
    store: 'consul',
    cause: answer,
    ...(leaseName === undefined ? {} : { leaseName }),
  }
  const failed = `${operation} failed (${answer.status}): ${said}`
  if (answer.status === 401 || answer.status === 403 || isDenied(said)) {
    return new LeaseUnauthorisedError(`${failed}. Check the ACL token: it needs ${permissions}`, details)
  }
  if (said.includes('Invalid Session TTL')) {
    return new LeaseConfigurationError(`${failed}. Set min-ttl to session_ttl_min of the servers`, details)
  }
  if ([400, 404, 405, 413].includes(answer.status)) {
    return new LeaseConfigurationError(`${failed}. Check the addresses and the version of the agents`, details)
  }
  if (answer.status >= 300 && answer.status < 400) {
    return new LeaseConfigurationError(`${failed}. The address is not that of a Consul agent`, details)
  }
  return new LeaseUnavailableError(`${failed}. Try again`, details)
}

/** The error for a request without an answer. */
export function unanswered(error: unknown): LeaseUnavailableError {
  const { code } = error as NodeJS.ErrnoException
  const each = networkMessage(error)
  const shown = code === undefined || each.includes(code) ? each : `${each} (${code})`
  const details = { store: 'consul', cause: error }
  // No connection was made, so the request was certainly not applied.
  if (isUnconnected(error)) {
    return new LeaseUnavailableError(
      `the Consul agent cannot be reached: ${shown}. Check the addresses, and whether an agent runs there`,
      details,
    )
  }
  return new LeaseUnavailableError(
    `the Consul agent did not answer: ${shown}. The request may have been applied: try again`,
    details,
  )
}

export function heldByAnotherProgram(leaseName: string, session: string): LeaseConflictError {
  const message = `'${leaseName}' is held by another program: stop it, or destroy its session ${session}`
  return new LeaseConflictError(message, { leaseName, store: 'consul' })
}
