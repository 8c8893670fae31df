import { createHmac, randomBytes } from 'node:crypto'
import { inTime, logSafely, SecretText } from '@leasehold/core/internal'
import type { CheckedUiOptions } from '../checked-options.js'
import type { UiUser } from '../lease-ui-options.js'
import type { UiCall } from '../server/ui-call.js'
import { Refusal } from './refusal.js'

const missingToken =
  'the access token is missing or wrong: open the page with #token= and the token at the end of its address'
const unknownUser = 'you are not signed in, or may not see this page: sign in, and open it again'
const foreignPage =
  'the page is of an earlier start of the server, or of another process: open it again. If that does not help, LeaseUi needs ' +
  'the same secret in all processes'
const failing = 'the server could not find out who you are: try again, and see its log'

type GateOptions = Pick<
  CheckedUiOptions,
  'token' | 'authorize' | 'secret' | 'writable' | 'timeout' | 'clock' | 'logger'
>

/** Decides who may read the page, and who may change something. It logs nothing of a request. */
export class Gate {
  readonly #options: GateOptions
  readonly #header: SecretText | undefined
  /** The change tokens come from it. */
  readonly #key: string | Buffer

  constructor(options: GateOptions) {
    const { token, secret } = options
    this.#options = options
    this.#header = token === undefined ? undefined : new SecretText(`Bearer ${token}`)
    // With one access token, or one secret, all processes accept the change tokens of each other.
    this.#key = token ?? secret ?? randomBytes(32)
  }

  /** Whether the files of the page, which show nothing of a store, need no access: with a token, the page has to ask for it. */
  get isPageOpen(): boolean {
    return this.#header !== undefined
  }

  /** The user of a request. Rejects with a `Refusal` if there is none, also if `authorize` fails or takes too long. */
  async userOf(call: UiCall): Promise<UiUser> {
    const { authorize, writable } = this.#options
    if (authorize !== undefined) return await this.#ask(authorize, call)
    if (this.#header?.is(call.header('authorization')) !== true) {
      throw new Refusal(401, 'access', missingToken, { 'www-authenticate': 'Bearer' })
    }
    return { access: writable ? 'write' : 'read' }
  }

  /** The value of `x-leasehold-change` that a change of this user needs. Another site cannot read it. */
  changeTokenOf({ name = '' }: UiUser): string {
    return createHmac('sha256', this.#key).update(`leasehold ui change ${name}`).digest('base64url')
  }

  /** Throws a `Refusal` unless the page itself sends this change, for a user who may make it. */
  checkChange(call: UiCall, user: UiUser): void {
    if (user.access !== 'write') throw new Refusal(403, 'access', 'you may look, but not change anything here')
    if (!isOfSameOrigin(call)) {
      throw new Refusal(403, 'access', 'a change must come from the page itself, and not from another site')
    }
    if (!new SecretText(this.changeTokenOf(user)).is(call.header('x-leasehold-change'))) {
      throw new Refusal(403, 'access', foreignPage)
    }
  }

  async #ask(authorize: NonNullable<CheckedUiOptions['authorize']>, call: UiCall): Promise<UiUser> {
    const { clock, timeout } = this.#options
    let user: unknown
    try {
      user = await inTime(clock, timeout, Promise.resolve(authorize(call)), () => {
        throw new Error('authorize did not answer in time')
      })
    } catch (error) {
      this.#report(`authorize failed with ${kindOf(error)}`, framesOf(error))
      throw new Refusal(500, 'access', failing)
    }
    if (user === undefined) throw new Refusal(401, 'access', unknownUser)
    if (isUser(user)) return user
    this.#report(
      `authorize must return { access: 'read' } or { access: 'write' }, with a name or without, or undefined`,
    )
    throw new Refusal(500, 'access', failing)
  }

  #report(message: string, details?: string): void {
    logSafely(this.#options.logger, 'error', `LeaseUi: ${message}`, details)
  }
}

function isUser(value: unknown): value is UiUser {
  const { access, name } = Object(value) as Partial<UiUser>
  return (access === 'read' || access === 'write') && (name === undefined || typeof name === 'string')
}

/** Browsers send `sec-fetch-site` only over https and to this machine, and `origin` with each change. */
function isOfSameOrigin(call: UiCall): boolean {
  const site = call.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  const origin = call.header('origin')
  const host = call.header('host')
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host === host.toLowerCase()
}

function kindOf(error: unknown): string {
  return error instanceof Error ? error.constructor.name : 'a value that is no error'
}

/** Where an error comes from. Its message may have the credentials of a request in it. */
function framesOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const frames = error.stack?.split('\n').filter((line) => /^ {4}at /.test(line))
  return frames?.join('\n')
}
