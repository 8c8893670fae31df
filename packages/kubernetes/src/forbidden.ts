import { type ApiAnswer, statusOf } from './api/api-answer.js'

/**
 * The part of the cluster that refused a request. All parts answer 403 with the reason `Forbidden`, except for a webhook,
 * which may choose another code:
 *
 * - `permission`: the authorisation, because a verb is not granted
 * - `webhook`: an admission webhook or an admission policy of the cluster
 * - `terminating`: the namespace is being deleted, and takes no new objects
 * - `quota`: the namespace has as many objects as its quota allows
 * - `admission`: another admission plugin
 * - `proxy`: the answer is not from an API server
 */
export type Refuser = 'permission' | 'webhook' | 'terminating' | 'quota' | 'admission' | 'proxy'

/** `undefined` if the request was not refused by any of them. The texts are the same in all versions from 1.20 to 1.36. */
export function refuserOf(answer: ApiAnswer): Refuser | undefined {
  const { message = '', details } = statusOf(answer) ?? {}
  const isRejected = answer.status >= 400 && answer.status < 500
  if (isRejected && /^admission webhook "[^"]*" denied the request/.test(message)) return 'webhook'
  if (isRejected && / (?:ValidatingAdmissionPolicy|MutatingAdmissionPolicy) '[^']*' with binding /.test(message)) {
    return 'webhook'
  }
  if (answer.status !== 403) return undefined
  if (statusOf(answer) === undefined) return 'proxy'
  if (details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true) return 'terminating'
  if (/ because it is being terminated$/.test(message)) return 'terminating'
  if (/^exceeded quota: | is forbidden: exceeded quota: /.test(message)) return 'quota'
  // Some clusters append how to get the permission.
  return /\bUser "[^"]*" cannot \w+ (?:resource|path) /.test(message) ? 'permission' : 'admission'
}
