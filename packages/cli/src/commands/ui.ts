import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LeaseConfigurationError } from '@leasehold/core'
import { reasonOf } from '@leasehold/core/internal'
import type { Action } from '../command-declaration.js'
import type { ui as declaration } from '../declarations.js'
import { exitCodes } from '../exit-codes.js'
import { loggerOf, openStore } from '../store-selection.js'
import type { Terminal } from '../terminal.js'
import { UsageError } from '../usage-error.js'

const DEFAULT_PLACE = '127.0.0.1:4747'

const VARIABLE = 'LEASEHOLD_UI_TOKEN'

/** As in `LeaseUi`. */
const SHORTEST_TOKEN = 16

interface Place {
  readonly host: string
  readonly port: number
}

/** Shows the page of leases until a signal ends it. */
export const showPage: Action<typeof declaration> = async ({ options }, terminal) => {
  const { listen = DEFAULT_PLACE, prefix, timeout, 'allow-changes': writable = false } = options
  const place = placeIn(listen)
  const token = tokenIn(terminal.env)
  const { LeaseUi } = await import('@leasehold/ui')
  await using opened = await openStore(options, prefix || 'ui', terminal)
  const { store, settings } = opened
  await using page = new LeaseUi(store, {
    token: token.text,
    writable,
    ...(prefix !== undefined && { prefix }),
    timeout: timeout ?? settings.timeouts.operationTimeout,
    clock: terminal.clock,
    logger: loggerOf(terminal),
  })
  const server = createServer((request, response) => page.handle(request, response))
  const ended = new Ending()
  try {
    const port = await listenAt(server, place)
    if (!isLoopback(place.host)) terminal.errors.write(`leasehold: warning: ${openWarning}\n`)
    // A token of the environment is a secret that its owner knows: it does not get into a log.
    const end = token.isGenerated ? `#token=${token.text}` : ''
    terminal.output.write(`http://${hostShown(place.host)}:${port}/${end}\n`)
    await ended.signal
  } finally {
    ended.forget()
    await page.close()
    await closed(server)
  }
  return exitCodes.ok
}

const openWarning =
  'the page can be reached from other machines, and the token travels without encryption: put a proxy with TLS before it, or ' +
  `listen on ${DEFAULT_PLACE} and use ssh -L`

/** Resolves when the user ends the command. */
class Ending {
  #resolve = (): void => {}
  readonly signal = new Promise<void>((resolve) => {
    this.#resolve = resolve
  })
  readonly #onSignal = (): void => this.#resolve()

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, this.#onSignal)
  }

  forget(): void {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, this.#onSignal)
  }
}

function placeIn(text: string): Place {
  const [, bracketed, plain = '127.0.0.1', digits = ''] =
    /^(?:(?:\[([\da-f:.]+)\]|([^:[\]]+)):)?(\d{1,5})$/i.exec(text) ?? []
  const port = Number(digits)
  if (digits !== '' && port <= 65_535) return { host: bracketed ?? plain, port }
  throw new UsageError(`--listen must be HOST:PORT, such as ${DEFAULT_PLACE} or [::1]:4747, not '${text}'`)
}

function tokenIn(env: Terminal['env']): { readonly text: string; readonly isGenerated: boolean } {
  const text = env[VARIABLE] ?? ''
  if (text === '') return { text: randomBytes(24).toString('base64url'), isGenerated: true }
  if (text.length >= SHORTEST_TOKEN && /^[\x21-\x7e]+$/.test(text)) return { text, isGenerated: false }
  throw new LeaseConfigurationError(
    `${VARIABLE} must have at least ${SHORTEST_TOKEN} letters, digits and marks, without spaces: take a random text`,
  )
}

async function listenAt(server: Server, { host, port }: Place): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(unusable(`${host}:${port}`, error)))
    server.listen({ host, port }, resolve)
  })
  return (server.address() as AddressInfo).port
}

function unusable(place: string, error: NodeJS.ErrnoException): LeaseConfigurationError {
  const advice: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there: choose another port with --listen',
    EADDRNOTAVAIL: 'this machine does not have that address: choose one of its own with --listen',
    EACCES: 'this user must not listen there: choose a port above 1023 with --listen',
    ENOTFOUND: 'the host is not known here: choose another one with --listen',
  }
  const reason = advice[error.code ?? ''] ?? reasonOf(error)
  return new LeaseConfigurationError(`leasehold ui cannot listen on ${place}: ${reason}`, { cause: error })
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

/** The host of the address. A server for all addresses of the machine can be reached at this one. */
function hostShown(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

async function closed(server: Server): Promise<void> {
  if (!server.listening) return
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
