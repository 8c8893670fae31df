import type { AnyStateMachine, AnyTransitionDefinition } from 'xstate'
import { toDirectedGraph } from 'xstate/graph'

/** A flat machine as a Mermaid state diagram. */
export function toMermaid(machine: AnyStateMachine): string {
  const { initial, states } = machine.root
  const { children } = toDirectedGraph(machine)
  const transitions = children.flatMap(({ edges }) =>
    edges.map(({ source, target, transition }) => `  ${source.key} --> ${target.key}: ${labelOf(transition)}`),
  )
  const final = Object.values(states).flatMap(({ type, key }) => (type === 'final' ? [`  ${key} --> [*]`] : []))
  const first = initial.target?.map(({ key }) => `  [*] --> ${key}`) ?? []
  return ['stateDiagram-v2', ...first, ...transitions, ...final].join('\n')
}

function labelOf({ eventType, guard, actions }: AnyTransitionDefinition): string {
  const condition = guard === undefined ? '' : ` [${nameOf(guard)}]`
  const effects = actions.length === 0 ? '' : ` / ${actions.map(nameOf).join(', ')}`
  return `${eventType === '*' ? 'any message' : eventType}${condition}${effects}`
}

function nameOf(reference: unknown): string {
  if (typeof reference === 'string') return reference
  return typeof reference === 'object' && reference !== null && 'type' in reference ? String(reference.type) : '?'
}
