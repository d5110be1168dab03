// SPDX-License-Identifier: Apache-2.0
import {
  BackSide, Color, EdgesGeometry, Group, LineBasicMaterial, LineDashedMaterial, LineSegments, Mesh,
  MeshBasicMaterial, MeshLambertMaterial, SphereGeometry, type BufferGeometry, type Raycaster,
} from "three";
import type { CSS2DObject } from "three/addons/renderers/CSS2DRenderer.js";
import type { SceneObject } from "../../store";
import { matrixOf, type FrameTree } from "./frames";
import { label } from "./label";
import { containers, derived, lookOf, type Look } from "./looks";
import type { Palette } from "./palette";
import { geometryOf } from "./shapes";

/** How far the outline of what is selected stands out, as a share of the size, and at least [m]. */
const OUTLINE = { share: 0.05, least: 0.006 };
/** Standard deviations that the ellipsoid of uncertainty reaches. */
const SIGMAS = 2;
const UNIT_SPHERE = new SphereGeometry(1, 16, 12);
/** Objects up to which all have a label; beyond, those do that are selected or not well. */
const MOST_LABELS = 16;

interface Drawn {
  group: Group;
  surface: Mesh<BufferGeometry, MeshLambertMaterial>;
  edges: LineSegments<EdgesGeometry, LineBasicMaterial | LineDashedMaterial>;
  outline: Mesh<BufferGeometry, MeshBasicMaterial>;
  ellipsoid: Mesh<SphereGeometry, MeshBasicMaterial>;
  name: CSS2DObject;
  /** What cannot be changed in place. */
  shape: string;
}

export interface ObjectOptions {
  selected: string | undefined;
  uncertainty: boolean;
  labels: boolean;
}

/** The scene's objects with their states. */
export class ObjectLayer {
  readonly group = new Group();
  private readonly drawn = new Map<string, Drawn>();

  /** Draws exactly these objects. */
  update(
    objects: ReadonlyMap<string, SceneObject>, frames: FrameTree, palette: Palette,
    options: ObjectOptions,
  ): void {
    for (const name of [...this.drawn.keys()]) if (!objects.has(name)) this.remove(name);
    const hollow = containers(objects.values());
    for (const [name, object] of objects) {
      const drawn = this.at(name, object);
      matrixOf(object.pose)
        .premultiply(frames.matrix(object.frame))
        .decompose(drawn.group.position, drawn.group.quaternion, drawn.group.scale);
      paint(drawn, object, lookOf(object, hollow.has(name)), palette, options, objects.size <= MOST_LABELS);
    }
  }

  /** The object that a ray meets first, of those that are no mere rooms if there is one. */
  pick(ray: Raycaster): string | null {
    const surfaces = [...this.drawn.values()].map((each) => each.surface);
    const hits = ray.intersectObjects(surfaces, false);
    const solid = hits.find((hit) => surfaceOf(hit.object).material.opacity > 0.3) ?? hits[0];
    return solid === undefined ? null : solid.object.name;
  }

  /** Where an object is drawn; null: there is none of this name. */
  find(name: string): Group | null {
    return this.drawn.get(name)?.group ?? null;
  }

  clear(): void {
    for (const name of [...this.drawn.keys()]) this.remove(name);
  }

  private at(name: string, object: SceneObject): Drawn {
    const shape = `${object.shape} ${object.size.join(" ")}`;
    const known = this.drawn.get(name);
    if (known?.shape === shape) return known;
    this.remove(name);
    const made = make(name, object, shape);
    this.drawn.set(name, made);
    this.group.add(made.group);
    return made;
  }

  private remove(name: string): void {
    const drawn = this.drawn.get(name);
    if (drawn === undefined) return;
    this.drawn.delete(name);
    this.group.remove(drawn.group);
    drawn.group.remove(drawn.name); // takes the label out of the page
    for (const part of [drawn.surface, drawn.edges, drawn.outline, drawn.ellipsoid])
      part.material.dispose();
    drawn.surface.geometry.dispose();
    drawn.edges.geometry.dispose();
  }
}

function surfaceOf(object: object): Drawn["surface"] {
  return object as Drawn["surface"];
}

function make(name: string, object: SceneObject, shape: string): Drawn {
  const geometry = geometryOf(object);
  const surface = new Mesh(geometry, new MeshLambertMaterial());
  surface.name = name;
  const edges = new LineSegments(new EdgesGeometry(geometry, 30), new LineBasicMaterial());
  edges.computeLineDistances();
  const outline = new Mesh(geometry, new MeshBasicMaterial({ side: BackSide }));
  geometry.computeBoundingSphere();
  const radius = Math.max(geometry.boundingSphere?.radius ?? 0, 1e-3);
  outline.scale.setScalar(1 + Math.max(OUTLINE.share, OUTLINE.least / radius));
  const ellipsoid = new Mesh(
    UNIT_SPHERE, new MeshBasicMaterial({ transparent: true, opacity: 0.25, depthWrite: false }),
  );
  const text = label("scene-object");
  geometry.computeBoundingBox();
  text.position.set(0, 0, geometry.boundingBox?.max.z ?? 0);
  const group = new Group();
  group.add(surface, edges, outline, ellipsoid, text);
  return { group, surface, edges, outline, ellipsoid, name: text, shape };
}

function paint(
  drawn: Drawn, object: SceneObject, look: Look, palette: Palette, options: ObjectOptions,
  few: boolean,
): void {
  const name = drawn.surface.name;
  const chosen = options.selected === name;
  const [r = 0.6, g = 0.6, b = 0.6] = object.color;
  const { material } = drawn.surface;
  material.color = new Color().setRGB(r, g, b, "srgb");
  material.opacity = look.opacity;
  material.transparent = look.opacity < 1;
  material.depthWrite = look.opacity > 0.3;
  paintEdges(drawn, look.dashed, chosen ? palette.accent : palette[look.edges]);
  drawn.outline.visible = chosen;
  drawn.outline.material.color = palette.accent;
  paintEllipsoid(drawn.ellipsoid, object, palette, options.uncertainty || chosen);
  drawn.name.visible = chosen || (options.labels && (few || look.word !== ""));
  const text = look.word === "" ? name : `${name} · ${look.word}`;
  if (drawn.name.element.textContent !== text) drawn.name.element.textContent = text;
  drawn.name.element.toggleAttribute("data-selected", chosen);
  drawn.name.element.dataset.rank = chosen ? "2" : derived(object) ? "-1" : look.word === "" ? "0" : "1";
}

function paintEdges(drawn: Drawn, dashed: boolean, color: Color): void {
  if (drawn.edges.material instanceof LineDashedMaterial !== dashed) {
    drawn.edges.material.dispose();
    drawn.edges.material = dashed
      ? new LineDashedMaterial({ dashSize: 0.012, gapSize: 0.008 })
      : new LineBasicMaterial();
  }
  drawn.edges.material.color = color;
}

function paintEllipsoid(
  ellipsoid: Drawn["ellipsoid"], object: SceneObject, palette: Palette, wanted: boolean,
): void {
  const [x = 0, y = 0, z = 0] = object.deviation;
  ellipsoid.visible = wanted && Math.max(x, y, z) > 0;
  if (!ellipsoid.visible) return;
  const [, , , qx, qy, qz, qw] = object.pose;
  ellipsoid.quaternion.set(qx, qy, qz, qw).normalize().invert(); // its axes are the frame's
  const least = 1e-4;
  const reach = [x, y, z].map((deviation) => Math.max(SIGMAS * deviation, least));
  ellipsoid.scale.set(reach[0]!, reach[1]!, reach[2]!);
  ellipsoid.material.color = palette.waiting;
  ellipsoid.material.depthTest = false;
}
