import type { Spec } from './layouts/layout.js'

/** An object of the API. Other fields are kept as they are. */
export interface KubernetesObject {
  readonly metadata: ObjectMetadata
  readonly spec?: Spec
  readonly [field: string]: unknown
}

export interface ObjectMetadata {
  readonly name: string
  readonly resourceVersion: string
  readonly uid?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

/** Whether a value is an object with a decimal version, as fencing tokens need. */
export function isKubernetesObject(value: unknown): value is KubernetesObject {
  if (typeof value !== 'object' || value === null) return false
  const { metadata } = value as { metadata?: Partial<ObjectMetadata> | null }
  if (typeof metadata !== 'object' || metadata === null) return false
  return typeof metadata.resourceVersion === 'string' && /^\d+$/.test(metadata.resourceVersion)
}
