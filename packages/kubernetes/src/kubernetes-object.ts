import type { Spec } from './layouts/layout.js'

/** An object of the API. What is not named here is kept as it is. */
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

/** Whether an answer is an object with a version: a decimal number, which is what fencing tokens are made of. */
export function isKubernetesObject(value: unknown): value is KubernetesObject {
  if (typeof value !== 'object' || value === null) return false
  const { metadata } = value as { metadata?: Partial<ObjectMetadata> | null }
  if (typeof metadata !== 'object' || metadata === null) return false
  return typeof metadata.resourceVersion === 'string' && /^\d+$/.test(metadata.resourceVersion)
}
