// SPDX-License-Identifier: Apache-2.0
import {
  Box3, Color, DirectionalLight, GridHelper, HemisphereLight, PerspectiveCamera, Raycaster, Scene,
  Sphere, Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { Labels } from "./labels";
import type { Palette } from "./palette";

/** From where the scene is seen: direction from what is looked at. */
export const DIRECTIONS = {
  home: [0.9, 0.55, 0.75], above: [0, -0.001, 1], front: [1, 0, 0.12], side: [0, -1, 0.12],
} as const;
export type Direction = keyof typeof DIRECTIONS;

/** What is looked at where there is nothing. */
const NOTHING = new Sphere(new Vector3(0.2, 0, 0.3), 0.9);
/** [m] between the camera and what is brought to the middle. */
const NEAREST = 0.35;
/** [px] that a pointer may move between pressing and letting go, and it was still a click. */
const STILL = 4;

/** What was drawn, for tests and measurements. */
export interface Statistics {
  frames: number;
  triangles: number;
  /** [ms] that the last frame took this thread. */
  duration: number;
}

/**
 * A canvas with a camera that one orbits by pointer or arrow keys.
 *
 * It draws only when `request` was called since: a scene at rest costs nothing.
 */
export class View {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(45, 1, 0.03, 150);
  readonly controls: OrbitControls;
  readonly statistics: Statistics = { frames: 0, triangles: 0, duration: 0 };
  /** Is called right before a frame is drawn. */
  before: () => void = () => {};
  /** Is called after a frame was drawn. */
  after: () => void = () => {};
  /** Is called with a ray where the canvas was clicked. */
  clicked: (ray: Raycaster) => void = () => {};
  private readonly renderer: WebGLRenderer;
  private readonly labels = new Labels();
  private readonly ground = new GridHelper(2.4, 24);
  private readonly watcher: ResizeObserver;
  private asked = 0;
  private pressed: [number, number] | null = null;

  /** Throws if the browser has no WebGL. */
  constructor(private readonly host: HTMLElement) {
    this.renderer = new WebGLRenderer({ antialias: true, powerPreference: "low-power" });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    const { domElement: canvas } = this.renderer;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", "3D view of robot and objects; the list of objects says the same");
    host.append(canvas, this.labels.element);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.listenToKeyEvents(canvas);
    this.controls.addEventListener("change", () => this.request());
    this.ground.rotateX(Math.PI / 2);
    this.ground.position.z = -0.003; // tables' tops are often at 0
    const sun = new DirectionalLight(0xffffff, 1.9);
    sun.position.set(0.3, 0.6, 1);
    this.camera.add(sun);
    this.scene.add(this.camera, new HemisphereLight(0xffffff, 0x8d8d94, 1.6), this.ground);
    this.fit(new Box3());
    canvas.addEventListener("pointerdown", this.onDown);
    canvas.addEventListener("pointerup", this.onUp);
    canvas.addEventListener("webglcontextrestored", () => this.request());
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(host);
    this.resize();
  }

  /** Draws soon; many calls until then are one. */
  request(): void {
    if (this.asked === 0) this.asked = requestAnimationFrame(() => this.draw());
  }

  /** Takes over the colours of the theme. */
  paint(palette: Palette): void {
    this.scene.background = new Color(palette.ground);
    const lines = new Color(palette.line);
    const { material } = this.ground;
    for (const each of [material].flat()) {
      each.vertexColors = false;
      each.color = lines;
      each.needsUpdate = true;
    }
    this.request();
  }

  /** Looks from a direction at what was looked at. */
  look(from: Direction): void {
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.stand(new Vector3(...DIRECTIONS[from]), distance);
  }

  /** Looks from home at the whole of `box`; an empty one: at the place where robots stand. */
  fit(box: Box3): void {
    const sphere = box.isEmpty() ? NOTHING : box.getBoundingSphere(new Sphere());
    this.controls.target.copy(sphere.center);
    const angle = ((this.camera.fov * Math.PI) / 180) * Math.min(1, this.camera.aspect);
    this.stand(new Vector3(...DIRECTIONS.home), (1.05 * sphere.radius) / Math.sin(angle / 2));
  }

  /** Moves the camera so that `box` is in the middle, nearer if it is small. */
  centre(box: Box3): void {
    const reach = Math.max(NEAREST, 3 * box.getSize(new Vector3()).length());
    const direction = this.camera.position.clone().sub(this.controls.target);
    box.getCenter(this.controls.target);
    this.stand(direction, reach);
  }

  private stand(direction: Vector3, distance: number): void {
    this.camera.position
      .copy(this.controls.target)
      .addScaledVector(direction.normalize(), distance);
    this.controls.update();
    this.request();
  }

  dispose(): void {
    cancelAnimationFrame(this.asked);
    this.asked = -1;
    this.watcher.disconnect();
    this.controls.dispose();
    this.ground.dispose();
    this.renderer.dispose();
    this.renderer.domElement.remove();
    this.labels.element.remove();
  }

  private draw(): void {
    this.asked = 0;
    const begin = performance.now();
    this.before();
    this.renderer.render(this.scene, this.camera);
    this.labels.render(this.scene, this.camera);
    this.statistics.frames += 1;
    this.statistics.triangles = this.renderer.info.render.triangles;
    this.statistics.duration = performance.now() - begin;
    this.after();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (width === 0 || height === 0) return;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.renderer.setSize(width, height);
    this.labels.setSize(width, height);
    this.request();
  }

  private readonly onDown = (event: PointerEvent) => {
    this.pressed = event.button === 0 ? [event.clientX, event.clientY] : null;
  };

  private readonly onUp = (event: PointerEvent) => {
    if (this.pressed === null) return;
    const [x, y] = this.pressed;
    this.pressed = null;
    if (Math.hypot(event.clientX - x, event.clientY - y) > STILL) return;
    const frame = this.renderer.domElement.getBoundingClientRect();
    const at = new Vector2(
      ((event.clientX - frame.left) / frame.width) * 2 - 1,
      1 - ((event.clientY - frame.top) / frame.height) * 2,
    );
    const ray = new Raycaster();
    ray.setFromCamera(at, this.camera);
    this.clicked(ray);
  };
}
