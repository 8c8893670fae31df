import type { StoreCall, StoreFinding } from '@leasehold/core/store'
import { conditionsOf, durabilityOf, type ServerInfo } from '@leasehold/redis/internal'
import type { Electorate } from './electorate.js'
import { type Tally, undecided } from './tally.js'

/** The conditions of each server that answers in time, before the first grant. Rejects unless a majority answers. */
export async function conditionsOfMembers(
  electorate: Electorate,
  leaseName: string,
  call: StoreCall,
): Promise<readonly StoreFinding[]> {
  return await probeMembers(electorate, leaseName, call, conditionsOf)
}

/** Everything that decides whether the servers keep leases. Rejects unless a majority answers. */
export async function probeServers(
  electorate: Electorate,
  leaseName: string,
  call: StoreCall,
): Promise<readonly StoreFinding[]> {
  return await probeMembers(electorate, leaseName, call, (info) => [...conditionsOf(info), ...durabilityOf(info)])
}

async function probeMembers(
  electorate: Electorate,
  leaseName: string,
  call: StoreCall,
  findingsOf: (info: ServerInfo) => readonly StoreFinding[],
): Promise<readonly StoreFinding[]> {
  const votes = await electorate.poll<ServerInfo, Tally<ServerInfo>['votes']>(call, {
    ask: (member, own) => member.probe(leaseName, own),
    decide: (tally) => {
      if (tally.isOpen) return undefined
      if (tally.values.length < tally.majority) throw undecided({ operation: 'check', leaseName }, tally)
      return [...tally.votes]
    },
  })
  const findings = votes.flatMap((vote, place) => {
    if (vote === undefined || !('value' in vote)) return [silent(place)]
    return findingsOf(vote.value).map(({ check, ...finding }) => ({ check: `${check} ${place + 1}`, ...finding }))
  })
  return findings
}

function silent(place: number): StoreFinding {
  const found = `server ${place + 1} does not answer: leases work while a majority does`
  return { check: `server ${place + 1}`, result: 'warning', found, change: 'start the server, or correct its URL' }
}
