import {
  LeaseConfigurationError,
  type LeaseError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { type ApiAnswer, statusOf } from './api-answer.js'
import { roleFor, type Verb } from './role.js'

/** What was tried. */
export interface Attempt {
  readonly verb: Verb
  /** All that is needed beside it; what the leases of a store need unless given. */
  readonly needed?: readonly Verb[]
  readonly resource: { readonly group: string; readonly version: string; readonly plural: string }
  readonly namespace: string
  /** The lease, where it is about one. */
  readonly leaseName?: string
  /** What to apply where the server does not know the kind. */
  readonly manifest?: string | undefined
}

const TLS_FAILURES = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/** The failure that an answer is, by its code and its reason: its message is passed on, and not looked at. */
export function failureOf(answer: ApiAnswer, attempt: Attempt): LeaseError {
  const { verb, resource, namespace, leaseName, manifest, needed } = attempt
  const status = statusOf(answer)
  const said = status?.message ?? answer.text.trim().slice(0, 300)
  const details = { store: 'kubernetes', cause: answer, ...(leaseName === undefined ? {} : { leaseName }) }
  const kind = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`
  switch (answer.status) {
    case 401:
      return new LeaseUnauthorisedError(
        `the API server does not take the credentials, and no fresh ones either (401): ${said}. Check the token or the ` +
          'certificate of the kubeconfig, or the service account of the pod',
        details,
      )
    case 403:
      return new LeaseUnauthorisedError(
        `the verb '${verb}' on ${kind} in namespace '${namespace}' is not granted (403): ${said}\nApply this Role, and ` +
          `bind it to the service account:\n\n${roleFor(resource, namespace, [verb], needed)}`,
        details,
      )
    case 404:
      return new LeaseConfigurationError(whatIsMissing(status?.details?.kind, attempt, kind, manifest), details)
    case 400:
    case 413:
    case 422:
      return new LeaseConfigurationError(`the API server refuses the object (${answer.status}): ${said}`, details)
    case 504:
      return new LeaseUnavailableError(`the API server gave up (504): ${said}. It may have been applied; try again`, {
        ...details,
        retryAfter: answer.retryAfter,
      })
    default:
      return new LeaseUnavailableError(`the API server answered ${answer.status}: ${said}. Try again`, {
        ...details,
        retryAfter: answer.retryAfter,
      })
  }
}

/** The failure of a request without an answer. */
export function unanswered(error: unknown): LeaseUnavailableError {
  const { cause } = error as { cause?: unknown }
  const { code, message } = (cause ?? error) as NodeJS.ErrnoException
  const what = TLS_FAILURES.has(code ?? '')
    ? `the certificate of the API server is not to be trusted (${code}): give the kubeconfig the cluster's certificate-authority`
    : `the API server did not answer: ${message}${code === undefined || message.includes(code) ? '' : ` (${code})`}. It ` +
      'may have been applied; try again'
  return new LeaseUnavailableError(what, { store: 'kubernetes', cause: error })
}

function whatIsMissing(
  kind: string | undefined,
  attempt: Attempt,
  plural: string,
  manifest: string | undefined,
): string {
  const { namespace, resource } = attempt
  if (kind === 'namespaces') return `there is no namespace '${namespace}': make it, or set another one`
  if (manifest === undefined) return `the API server does not serve ${resource.group}/${resource.version} ${plural}`
  return (
    `the API server does not know ${plural}: apply the manifest that this package ships, kubectl apply -f ` +
    `node_modules/@leasehold/kubernetes/manifests/${manifest}`
  )
}
