import { reasonOf } from '@leasehold/core/internal'
import { parsedJSON } from '@leasehold/core/store-kit'
import { NotDeliveredError, OutcomeUnknownError } from '../delivery-errors.js'

/** What another process has answered. */
export interface PeerAnswer {
  readonly status: number
  readonly text: string
  /** Where a redirect leads. */
  readonly location: string | undefined
}

const UNREACHABLE = 'cannot be reached from here: check the address and the network between the processes'
const UNRESOLVED = 'has a host that is not known here: use an address that the other processes can resolve'

/** What to do about a connection that was not made, by the code of its error. */
const CONNECTION_ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections: the process has ended, or it listens elsewhere',
  ENOTFOUND: UNRESOLVED,
  EAI_AGAIN: UNRESOLVED,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ETIMEDOUT: UNREACHABLE,
  ERR_TLS_CERT_ALTNAME_INVALID:
    'has a certificate for another host: add the host of its address to the names of the certificate',
}

/** The failure of a request of which nothing was sent. */
export function notConnected(origin: string, error: unknown): NotDeliveredError {
  if (error instanceof NotDeliveredError) return error
  const { code = '' } = error as NodeJS.ErrnoException
  const advice = CONNECTION_ADVICE[code] ?? `cannot be connected to: ${reasonOf(error)}`
  return new NotDeliveredError(`${origin} ${advice}`, { cause: error })
}

/**
 * The answers that only a server gives that has not handled the request. Other ones, such as 408, 502 and 504, may come from a
 * proxy that has passed the request on.
 */
const REFUSALS: Readonly<Record<number, string>> = {
  301: 'redirects: use the URL to which it leads as the address',
  302: 'redirects: use the URL to which it leads as the address',
  307: 'redirects: use the URL to which it leads as the address',
  308: 'redirects: use the URL to which it leads as the address',
  400: 'does not understand the messages: run one version of @leasehold/sharding everywhere',
  401: 'refuses the secret or the certificate of this process: set the same secret or tls in all processes',
  403: 'forbids the messages: let the other processes reach the address past your own checks',
  404: 'has no such region: it has stopped, or the transport is not mounted there',
  405: 'takes no POST: mount the transport for all methods',
  409: 'runs another version of @leasehold/sharding: run one version everywhere',
  411: 'wants another kind of request: let the other processes reach the address without a proxy',
  413: 'refuses so large a batch: set the same bodyLimit in all processes, and a larger one in your server or proxy',
  414: 'refuses so long a path: use a shorter name for the region',
  415: 'does not take this kind of body: mount the transport before the parsers of your server',
  421: 'is not the server that was meant: check the address',
  426: 'wants another protocol: use an address with https',
  429: 'has too much to do: it is sent again later, or raise maxRequests',
  431: 'refuses the headers: let the other processes reach the address without a proxy',
}

/** The failure of a request that got an answer other than receipts. */
export function failedAnswer(origin: string, { status, text, location }: PeerAnswer): Error {
  const advice = REFUSALS[status]
  const said = location === undefined ? saidIn(text) : ` (${shortened(location)})`
  if (advice !== undefined) return new NotDeliveredError(`${origin} ${advice}; it answered ${status}${said}`)
  return new OutcomeUnknownError(`${origin} may have taken the messages: it answered ${status}${said}`)
}

/** The error that our own servers send. */
function saidIn(text: string): string {
  const body = parsedJSON(text)
  const error = typeof body === 'object' && body !== null ? (body as { readonly error?: unknown }).error : undefined
  return typeof error === 'string' ? `: ${shortened(error)}` : ''
}

/** As much of a foreign text as a log should show. */
function shortened(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ').slice(0, 300)
}
