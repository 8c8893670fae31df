import {
  LeaseConfigurationError,
  type LeaseError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { isUnconnected, misconfiguredFor, networkMessage } from '@leasehold/core/store-kit'
import { type ApiAnswer, statusOf } from './api/api-answer.js'
import type { ApiResource } from './api/api-request.js'
import { roleFor, VERBS, type Verb } from './api/role.js'
import { type Refuser, refuserOf } from './forbidden.js'

export const misconfigured = misconfiguredFor('kubernetes')

/** A request to the API server that failed, for its error. */
export interface FailedRequest {
  readonly verb: Verb
  /** The verbs of the Role in the message; those of leases unless given. */
  readonly needed?: readonly Verb[]
  readonly resource: ApiResource
  readonly namespace: string
  /** The lease, if the request was for one. */
  readonly leaseName?: string | undefined
}

const TLS_FAILURES = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/** The error for a failed answer, by its status and its reason. The message of the server is only passed on. */
export function failureOf(answer: ApiAnswer, request: FailedRequest): LeaseError {
  const { verb, needed = verb === 'list' ? [...VERBS, verb] : VERBS, resource, namespace, leaseName } = request
  const status = statusOf(answer)
  const said = status?.message ?? answer.text.trim().slice(0, 300)
  const details = { store: 'kubernetes', cause: answer, ...(leaseName === undefined ? {} : { leaseName }) }
  const kind = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`
  const refuser = refuserOf(answer)
  if (refuser !== undefined && refuser !== 'permission') return refusal(refuser, said, answer, request, details)
  switch (answer.status) {
    case 401:
      return new LeaseUnauthorisedError(
        `the API server rejects the credentials (401): ${said}. Check the token or the certificate of the kubeconfig, or ` +
          'the service account of the pod',
        details,
      )
    case 403:
      return new LeaseUnauthorisedError(
        `the verb '${verb}' on ${kind} in namespace '${namespace}' is not granted (403): ${said}\n` +
          roleFor(resource, namespace, [verb], needed),
        details,
      )
    case 404:
      return new LeaseConfigurationError(missingThing(status?.details?.kind, request, kind), details)
    case 400:
    case 413:
    case 422:
      return new LeaseConfigurationError(`the API server rejects the object (${answer.status}): ${said}`, details)
    case 429:
      return new LeaseUnavailableError(
        `the API server limits the requests of this client, or is overloaded (429): ${said}. Nothing was changed. Try again ` +
          "later; if it stays so, send fewer requests (a longer heartbeatInterval), or raise the limits of the client's " +
          'priority level (API Priority and Fairness)',
        { ...details, retryAfter: answer.retryAfter },
      )
    default: {
      const advice = answer.status === 504 ? 'The request may have been applied: try again' : 'Try again'
      const message = `the API server answered ${answer.status}: ${said}. ${advice}`
      return new LeaseUnavailableError(message, { ...details, retryAfter: answer.retryAfter })
    }
  }
}

/** The error for a refusal that no Role cures. */
function refusal(
  refuser: Exclude<Refuser, 'permission'>,
  said: string,
  { status }: ApiAnswer,
  { verb, namespace }: FailedRequest,
  details: LeaseErrorDetails,
): LeaseError {
  switch (refuser) {
    case 'webhook':
      return new LeaseUnauthorisedError(
        `an admission webhook or policy of the cluster refuses the write (${status}): ${said}. The permissions are not the ` +
          `problem: change its rules, or have it leave out the leases of namespace '${namespace}'`,
        details,
      )
    case 'terminating':
      return new LeaseConfigurationError(
        `namespace '${namespace}' is being deleted and takes no new objects (${status}): ${said}. Set another namespace, or ` +
          'wait until it is gone, and create it again',
        details,
      )
    case 'quota':
      return new LeaseConfigurationError(
        `the quota of namespace '${namespace}' is used up (${status}): ${said}. Raise the quota, or remove objects of names ` +
          'that are not used any more',
        details,
      )
    case 'admission':
      return new LeaseUnauthorisedError(
        `an admission plugin of the API server refuses to ${verb} the object (${status}): ${said}. The permissions are not ` +
          'the problem: change what the plugin objects to',
        details,
      )
    case 'proxy':
      return new LeaseUnauthorisedError(
        `the answer ${status} is not from an API server, but from a proxy or gateway before it: ${said}. Permit the ` +
          'requests there, or change the server or the proxy of the kubeconfig',
        details,
      )
  }
}

/** The error for a request without an answer. */
export function unanswered(error: unknown): LeaseUnavailableError {
  return new LeaseUnavailableError(whyUnanswered(error), { store: 'kubernetes', cause: error })
}

function whyUnanswered(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (TLS_FAILURES.has(code ?? '')) {
    return (
      `the certificate of the API server is not trusted (${code}): add the cluster's certificate-authority to the ` +
      'kubeconfig; in a pod, check ca.crt of the service account'
    )
  }
  const message = networkMessage(error)
  const said = `${message}${code === undefined || message.includes(code) ? '' : ` (${code})`}`
  return isUnconnected(error)
    ? `the API server cannot be reached: ${said}. Check its address (server in the kubeconfig, KUBERNETES_SERVICE_HOST in a pod), and whether it runs`
    : `the API server did not answer: ${said}. The request may have been applied: try again`
}

function missingThing(kind: string | undefined, { namespace, resource }: FailedRequest, plural: string): string {
  const { group, version, manifest } = resource
  if (kind === 'namespaces') return `namespace '${namespace}' does not exist: create it, or set another one`
  if (manifest === undefined) return `the API server does not serve ${group}/${version} ${plural}`
  return (
    `the API server does not know ${plural}: apply the manifest that this package ships, kubectl apply -f ` +
    `node_modules/@leasehold/kubernetes/manifests/${manifest}`
  )
}
