import {
  type Clock,
  defaultLogger,
  LeaseConfigurationError,
  type LeaseStore,
  type Logger,
  systemClock,
} from '@leasehold/core'
import {
  checkFault,
  faultOfFlag,
  faultOfFunction,
  faultOfInterval,
  guardClock,
  isCount,
  logSafely,
  shownValue,
} from '@leasehold/core/internal'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import type { LeaseUiOptions } from './lease-ui-options.js'

const optionNames: OptionNames<LeaseUiOptions> = {
  path: true,
  token: true,
  authorize: true,
  secret: true,
  writable: true,
  prefix: true,
  title: true,
  interval: true,
  historyFor: true,
  maxStreams: true,
  timeout: true,
  logger: true,
  clock: true,
}

/** A shorter one could be guessed. */
const SHORTEST_TOKEN = 16

/** The options, checked and complete. */
export interface CheckedUiOptions {
  /** Without a slash at its end: empty if the page is at the root. */
  readonly path: string
  readonly token: string | undefined
  readonly authorize: LeaseUiOptions['authorize']
  readonly secret: string | undefined
  readonly writable: boolean
  readonly prefix: string
  readonly title: string
  readonly interval: number
  readonly historyFor: number
  readonly maxStreams: number
  readonly timeout: number
  readonly logger: Logger
  readonly clock: Clock
}

/** Throws a `LeaseConfigurationError` that says which option to change. */
export function checkedUiOptions(store: LeaseStore, given: LeaseUiOptions): CheckedUiOptions {
  if (typeof Object(store).read !== 'function') {
    refuse(`LeaseUi needs a store, such as new RedisLeaseStore(…), and not ${shownValue(store)}`)
  }
  // A program in JavaScript may give none.
  const options = given ?? {}
  checkOptionNames('LeaseUi', options, optionNames)
  checkAccess(options)
  const { interval = 1_000, historyFor = 6 * 3_600_000, timeout = 5_000, maxStreams = 100 } = options
  for (const [name, value] of Object.entries({ interval, historyFor, timeout }))
    checkFault(faultOfInterval(name, value))
  if (!isCount(maxStreams) || maxStreams === 0) {
    refuse(`maxStreams must be a whole number of 1 or more, not ${shownValue(maxStreams)}`)
  }
  const { prefix = '', title = store.kind ?? 'leases', logger = defaultLogger, clock = systemClock } = options
  for (const [name, value] of Object.entries({ prefix, title })) {
    if (typeof value !== 'string') refuse(`${name} must be a text, not ${shownValue(value)}`)
  }
  return {
    path: checkedPath(options.path),
    token: options.token,
    authorize: options.authorize,
    secret: options.secret,
    writable: options.writable === true,
    prefix,
    title,
    interval,
    historyFor,
    maxStreams,
    timeout,
    logger,
    clock: guardClock(clock, (error) => logSafely(logger, 'error', 'LeaseUi: the clock failed', error)),
  }
}

function checkAccess(options: LeaseUiOptions): void {
  const { token, authorize, secret, writable } = options
  checkFault(faultOfFlag('writable', writable))
  checkFault(faultOfFunction('authorize', authorize))
  if (token === undefined && authorize === undefined) {
    // An environment variable that is not set must not open the page to everybody.
    refuse('LeaseUi needs an access token of at least 16 characters, or authorize, which asks your own authentication')
  }
  if (token !== undefined && authorize !== undefined) refuse('give LeaseUi a token or authorize, not both')
  if (authorize !== undefined) {
    if (writable !== undefined) refuse(`writable goes with a token: authorize returns { access: 'write' } instead`)
    if (secret !== undefined) checkRandomText('secret', secret)
    return
  }
  if (secret !== undefined)
    refuse('secret goes with authorize: with a token, all processes that have it accept each page')
  checkRandomText('token', token)
  // Such characters cannot stand in the header `authorization`.
  if (!/^[\x21-\x7e]+$/.test(token)) refuse('token must have letters, digits and marks of ASCII only, without spaces')
}

/** The text itself does not stand in the error. */
function checkRandomText(name: string, text: unknown): asserts text is string {
  if (typeof text !== 'string') refuse(`${name} must be a text, not ${typeof text}`)
  if (text.length < SHORTEST_TOKEN) {
    refuse(`${name} must have at least ${SHORTEST_TOKEN} characters, not ${text.length}: take a random text`)
  }
}

function checkedPath(path: unknown = '/'): string {
  const expected = `a path that begins with a slash, such as '/leases'`
  if (typeof path !== 'string' || !/^\/([\w.~%@+-]+(\/[\w.~%@+-]+)*\/?)?$/.test(path)) {
    refuse(`path must be ${expected}, not ${shownValue(path)}`)
  }
  return path.replace(/\/$/, '')
}

function refuse(reason: string): never {
  throw new LeaseConfigurationError(reason)
}
