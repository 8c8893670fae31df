import type { SystemFault } from '../systems/system.js'
import type { Member, Server } from './member.js'
import type { Mesh } from './mesh.js'

/**
 * The leader is cut off from the other servers, while clients still reach it: it does not know for a while that it leads no more.
 * `longest`: in milliseconds, so that the others can elect another one.
 */
export function cutLeader<S extends Server>(
  mesh: Mesh,
  members: readonly Member<S>[],
  leader: () => Promise<Member<S> | undefined>,
  longest: number,
): SystemFault {
  return {
    kind: 'cut-leader',
    target: 'servers',
    weight: 2,
    lasts: [500, longest],
    begin: async () => {
      const cut = await leader()
      if (cut !== undefined) mesh.isolate(members.indexOf(cut))
    },
    end: () => mesh.heal(),
  }
}
