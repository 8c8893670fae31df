import { EtcdServer, etcdProgram } from '@leasehold/testing/etcd-server'
import { SmallDisk } from '@leasehold/testing/small-disk'
import { runCluster } from '../../servers/cluster.js'
import { cutLeader } from '../../servers/cut-leader.js'
import { diskLeftOut, fullDisk } from '../../servers/full-disk.js'
import { findMember, type Member, operatorFault } from '../../servers/member.js'
import { PeerNetwork } from '../../servers/peer-network.js'
import type { RunningSystem, System, SystemFault, SystemScene } from '../system.js'
import { call } from './gateway.js'

const MEMBERS = 3

/** Of the disk of a member, which takes 128 for its log at once. */
const MEGABYTES = 256

interface Status {
  readonly header: { readonly member_id: string; readonly revision: string }
  readonly leader?: string
}

/**
 * Three members of etcd. Each is killed and frozen, also the leader, and also two at a time: then nobody is granted anything
 * until the quorum is back. The leadership is transferred, and the history is compacted. The leader is cut off from the other
 * members while clients still reach it. The disk of a member is full for a while, which ends it, where this process may mount a
 * small one.
 *
 * The clocks of the members are left alone: programs in Go read them past the library by which `faketime` shifts clocks.
 */
export const etcdSystem: System = {
  name: 'etcd',
  title: '3 members of etcd',
  whyNot: etcdProgram.whyNot,
  timeouts: { ttl: 3_000, heartbeatInterval: 500, operationTimeout: 1_000 },
  // An election takes up to 2 s; a new leader gives every lease its whole ttl again, and looks for expired ones twice a second.
  longestRecovery: 20_000,
  client: new URL('./client.ts', import.meta.url),
  start,
}

async function start({ clients }: SystemScene): Promise<RunningSystem> {
  const network = new PeerNetwork()
  const disks = Array.from({ length: MEMBERS }, () => SmallDisk.mount(MEGABYTES)).filter((disk) => disk !== undefined)
  const dirs = disks.map(({ folder }) => folder)
  const running = await runCluster({
    servers: await EtcdServer.cluster(MEMBERS, { dirs }, network.address()),
    clients,
    isLeader,
    settings: (ports) => ({ endpoints: ports.map((port) => `http://127.0.0.1:${port}`) }),
    faults: (members, leader) => [
      operatorFault('promote', () => moveLeader(members)),
      operatorFault('compact', async () => compact(await leader())),
      cutLeader(network.mesh, members, leader, 6_000),
      ...disks.flatMap((disk, place) => fullDiskOf(disk, place, members)),
    ],
    stop: async () => {
      await network.close()
      for (const disk of disks) disk.unmount()
    },
  })
  return {
    ...running,
    leftOut: diskLeftOut(disks[0]),
    heal: async () => {
      network.mesh.heal()
      await running.heal()
    },
  }
}

/** A member ends itself when its log or its data need space, and cannot start again until there is some. */
function fullDiskOf(disk: SmallDisk, place: number, members: readonly Member[]): readonly SystemFault[] {
  const mend = async (): Promise<void> => {
    await members[place]?.kill()
    await members[place]?.revive()
  }
  return fullDisk(disk, { target: `server ${place + 1}`, weight: 0.5, mend })
}

function statusOf({ url }: EtcdServer): Promise<Status> {
  return call(url, 'maintenance/status', {})
}

async function isLeader(server: EtcdServer): Promise<boolean> {
  const { header, leader } = await statusOf(server)
  return leader === header.member_id
}

/** Another member becomes the leader. */
async function moveLeader(members: readonly Member<EtcdServer>[]): Promise<void> {
  const leader = await findMember(members, isLeader)
  const next = await findMember(members, async (server) => !(await isLeader(server)))
  if (leader === undefined || next === undefined) return
  const { header } = await statusOf(next.server)
  await call(leader.server.url, 'maintenance/transfer-leadership', { targetID: header.member_id })
}

/** Forgets the history up to now: watches that are behind have to begin again. */
async function compact(leader: Member<EtcdServer> | undefined): Promise<void> {
  if (leader === undefined) return
  const { header } = await statusOf(leader.server)
  await call(leader.server.url, 'kv/compaction', { revision: header.revision })
}
