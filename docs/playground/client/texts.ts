import type { Message } from '../world/links.js'
import type { World } from '../world/world.js'

export interface NodeState {
  readonly kind: 'holder' | 'jeopardy' | 'waiting' | 'asking' | 'paused' | 'dead'
  readonly text: string
}

/** What a node is doing, in a few words. */
export function stateOf(world: World, node: number): NodeState {
  const program = world.programOf(node)
  if (program === undefined) return { kind: 'dead', text: 'dead' }
  if (!world.clockOf(node).isRunning) return { kind: 'paused', text: 'paused' }
  switch (program.lease.state) {
    case 'held':
      return { kind: 'holder', text: 'holder' }
    case 'jeopardy':
      return { kind: 'jeopardy', text: 'in jeopardy' }
    case 'releasing':
      return { kind: 'asking', text: 'releases' }
    default: {
      const place = world.waiters.indexOf(node)
      return place < 0 ? { kind: 'asking', text: 'asks' } : { kind: 'waiting', text: `waiter ${place + 1}` }
    }
  }
}

const requests: Readonly<Record<string, string>> = {
  acquire: 'ask',
  renew: 'renew',
  release: 'release',
  withdraw: 'leave',
}

/** The content of a message, in one or two words. */
export function messageText(message: Message): { readonly text: string; readonly tone: 'good' | 'bad' | 'plain' } {
  const { method, direction, fencingToken, isFailure, answer } = message
  if (direction === 'to-store') {
    const token = fencingToken === undefined ? '' : ` #${fencingToken}`
    return { text: (requests[method] ?? method) + token, tone: 'plain' }
  }
  if (method === 'write') return isFailure === true ? bad('refused') : good('written')
  if (isFailure === true) return bad('error')
  const { granted, renewed, released } = Object(answer) as { granted?: boolean; renewed?: boolean; released?: boolean }
  if (granted !== undefined) return granted ? good('granted') : { text: 'wait', tone: 'plain' }
  if (renewed !== undefined) return renewed ? good('renewed') : bad('refused')
  if (released !== undefined) return { text: 'released', tone: 'plain' }
  return { text: method === 'watch' ? 'notice' : 'done', tone: 'plain' }
}

function good(text: string) {
  return { text, tone: 'good' } as const
}

function bad(text: string) {
  return { text, tone: 'bad' } as const
}

/** Seconds with one digit. */
export function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(1)
}

/** A wall clock, as a person reads it. */
export function timeOfDay(wall: number): string {
  return new Date(wall).toISOString().slice(11, 16)
}
