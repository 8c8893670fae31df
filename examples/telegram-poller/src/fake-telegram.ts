import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The longest time that a poll waits for an update, in milliseconds. */
const LONGEST_POLL = 5_000

export interface Update {
  readonly update_id: number
  readonly text: string
}

export interface FakeTelegram {
  readonly address: string
  /** How many polls ended because another bot polled. */
  readonly conflicts: number
  /** The bot that polls now. */
  readonly poller: string | undefined
  /** The updates that no poll has confirmed. */
  readonly pending: number
  send(text: string): void
  close(): void
}

/** `getUpdates` as Telegram has it: a second poll ends the first one, with the error 409. An offset confirms all before it. */
export async function startFakeTelegram(): Promise<FakeTelegram> {
  let [conflicts, lastId] = [0, 0]
  let updates: Update[] = []
  let waiting: { readonly response: ServerResponse; readonly bot: string; readonly cancel: () => void } | undefined

  const answer = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const takeWaiting = () => {
    const taken = waiting
    waiting = undefined
    taken?.cancel()
    return taken
  }
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const bot = searchParams.get('bot') ?? ''
    const other = takeWaiting()
    if (other !== undefined) {
      // A bot that has given up its own poll does not read this answer.
      if (other.bot !== bot) conflicts += 1
      const description = 'Conflict: terminated by other getUpdates request'
      answer(other.response, 409, { ok: false, error_code: 409, description })
    }
    const offset = Number(searchParams.get('offset') ?? 0)
    updates = updates.filter(({ update_id }) => update_id >= offset)
    if (updates.length > 0 || searchParams.get('limit') === '1') {
      answer(response, 200, { ok: true, result: updates })
      return
    }
    const timer = setTimeout(
      () => answer(takeWaiting()?.response ?? response, 200, { ok: true, result: [] }),
      LONGEST_POLL,
    )
    waiting = { response, bot, cancel: () => clearTimeout(timer) }
    response.on('close', () => {
      if (waiting?.response === response) takeWaiting()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get conflicts() {
      return conflicts
    },
    get poller() {
      return waiting?.bot
    },
    get pending() {
      return updates.length
    },
    send: (text) => {
      lastId += 1
      updates.push({ update_id: lastId, text })
      const poll = takeWaiting()
      if (poll !== undefined) answer(poll.response, 200, { ok: true, result: updates })
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
