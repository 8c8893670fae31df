/**
 * A process with one instance of the bot: `instance.ts HOW FOLDER NAME ADDRESS`. HOW is `alone`, which polls without a lease,
 * or `elected`. Sends its parent its address, and each update that it handles.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { healthOf } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import type { LeaderElection } from '@leasehold/recipes'
import { PollingBot } from './polling-bot.js'
import { startPoller } from './start-poller.js'

const [how, folder = '', name = '', address = ''] = process.argv.slice(2)
const createBot = () => new PollingBot(address, name, ({ text }) => process.send?.({ handled: text }))

const election = how === 'alone' ? undefined : startPoller(new LocalLeaseStore({ folder }), name, createBot)
/** Set when polling without a lease has ended. As many programs do it, the process goes on then. */
const deaf = new AbortController()
if (election === undefined) {
  createBot()
    .start()
    .catch(() => deaf.abort())
}

// #region stop
process.on('SIGTERM', async () => {
  await election?.stop({ transfer: 'best' })
  process.exit()
})
// #endregion stop
// The demo has ended.
process.on('disconnect', () => process.exit())

// #region health
/** For the liveness probe, and for people who ask which instance polls. */
function answerHealth(election: LeaderElection, response: ServerResponse): void {
  const { healthy, reason } = healthOf(election)
  const role = election.isLeader ? 'polls' : 'waits'
  response.writeHead(healthy ? 200 : 503).end(JSON.stringify({ healthy, reason, role }))
}
// #endregion health

const server = createServer((_request, response) => {
  if (election !== undefined) return answerHealth(election, response)
  // Without a lease, nothing says that the bot is deaf, except in this demo.
  return response.end(JSON.stringify({ healthy: true, isDeaf: deaf.signal.aborted }))
})
server.listen(0, '127.0.0.1', () => {
  process.send?.({ health: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
