import type { ApiResource } from './api-request.js'

/** The verbs of a Role that this package uses. */
export type Verb = 'get' | 'create' | 'update' | 'watch' | 'list'

/** The verbs that leases need; only listings need `list`. */
export const VERBS = ['get', 'create', 'update', 'watch'] as const satisfies Verb[]

/** Begins the advice of `roleFor`. */
export const ROLE_ADVICE = 'Apply this Role'

/** Advice for messages: the Role that grants the needed verbs, with the missing ones in a comment. */
export function roleFor(
  { group, plural }: ApiResource,
  namespace: string,
  missing: readonly Verb[],
  needed: readonly Verb[] = VERBS,
): string {
  return [
    `${ROLE_ADVICE}, and bind it to the service account:`,
    '',
    'apiVersion: rbac.authorization.k8s.io/v1',
    'kind: Role',
    'metadata:',
    '  name: leasehold',
    `  namespace: ${namespace}`,
    'rules:',
    `  - apiGroups: ["${group}"]`,
    `    resources: ["${plural}"]`,
    `    verbs: [${needed.map((verb) => `"${verb}"`).join(', ')}] # missing: ${missing.join(', ')}`,
    '',
  ].join('\n')
}
